// The script of a host in a browser. It connects to a server with the official client, and shows the app of a tool with `AppBridge`, the
// library for hosts of ext-apps. esbuild bundles it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

const UI = 'io.modelcontextprotocol/ui'
const PAGE = 'text/html;profile=mcp-app'

/** What the app has done: the tools that it has called, the links that it has opened, and its sizes. */
const seen = { calls: [], links: [], sizes: [], isInitialized: false }
let bridge

/**
 * Calls a tool, and shows its result in its app. Resolves when the app has the result.
 *
 * @param {object} options
 * @param {string} options.url the endpoint of the server
 * @param {string} options.token
 * @param {string} options.sandbox the URL of the page in which the app runs
 * @param {string} options.name the name of the tool
 * @param {object} options.args its arguments
 * @param {object} [options.context] the `hostContext`
 * @param {object} [options.capabilities] the capabilities of the host
 * @param {object} [options.result] a result that replaces that of the tool
 * @param {string[]} [options.without] the members that the host removes from results
 */
window.showApp = async ({ url, token, sandbox, name, args, context, capabilities, result, without = [] }) => {
  const client = new Client({ name: 'host', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { extensions: { [UI]: { mimeTypes: [PAGE] } } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }))
  const tool = (await client.listTools()).tools.find((each) => each.name === name)
  const { contents: [page] } = await client.readResource({ uri: tool._meta.ui.resourceUri })
  if (page.mimeType !== PAGE) throw new Error(`the app has the type ${page.mimeType}`)
  const reduced = (result) => Object.fromEntries(Object.entries(result).filter(([member]) => !without.includes(member)))

  document.documentElement.dataset.theme = context?.theme ?? 'light'
  document.getElementById('question').textContent = args.queryText ?? ''
  document.getElementById('tool').textContent = `${tool.title} · ${client.getServerVersion().title}`
  const frame = document.createElement('iframe')
  frame.id = 'view'
  frame.title = page.uri
  frame.sandbox = 'allow-scripts allow-same-origin allow-forms'
  const transport = () => new PostMessageTransport(frame.contentWindow, frame.contentWindow)
  const ready = new Promise((resolve) => addEventListener('message', function listen({ source, data }) {
    if (source !== frame.contentWindow || data.method !== 'ui/notifications/sandbox-proxy-ready') return
    removeEventListener('message', listen)
    resolve()
  }))
  frame.src = `${sandbox}?csp=${encodeURIComponent(JSON.stringify(page._meta.ui.csp))}`
  document.body.append(frame)
  await ready

  bridge = new AppBridge(null, { name: 'host', version: '1' }, capabilities ?? { serverTools: {}, openLinks: {} },
    { hostContext: { theme: 'light', toolInfo: { tool }, ...context } })
  bridge.oncalltool = async (params) => {
    seen.calls.push(params)
    return reduced(await client.callTool(params))
  }
  bridge.onopenlink = async ({ url }) => {
    seen.links.push(url)
    return {}
  }
  bridge.onsizechange = ({ height }) => {
    seen.sizes.push(height)
    frame.style.height = `${height + 2}px`
  }
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve })
  await bridge.connect(transport())
  await bridge.sendSandboxResourceReady({ html: page.text, csp: page._meta.ui.csp })
  await initialized
  seen.isInitialized = true
  await bridge.sendToolInput({ arguments: args })
  await bridge.sendToolResult(reduced(result ?? await client.callTool({ name, arguments: args })))
}

window.seen = seen
window.setContext = (context) => {
  document.documentElement.dataset.theme = context.theme
  bridge.setHostContext(context)
}
window.tearDown = () => bridge.teardownResource({})
