// The software that nobody here wrote: servers, clients and authorization servers, by name and version. To add one, add a row, and for a client
// a driver in clients/.

import { PEERS } from '../e2e/client-peers.mjs'
import { COMMON, KNOWN } from './known.mjs'

const npm = (...packages) => ({ registry: 'npm', packages })
const pypi = (...packages) => ({ registry: 'PyPI', packages })

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} title the packages and versions, for people
 * @property {'npm' | 'PyPI'} registry
 * @property {string[]} packages with their exact versions
 * @property {string[]} start a program of the packages, or a script in servers/, with its arguments. `{port}` is a free port, `{data}` an empty
 *   folder, `{folder}` that of the packages, and `{browser}` the browser of `scripts/setup --browser`
 * @property {string} [behind] the bridge, if the server has only the stdio transport
 * @property {string} [path] the path of the endpoint, `/mcp` by default
 * @property {Record<string, string>} [env]
 * @property {string} [host] the host in the URL, `127.0.0.1` by default
 * @property {string} [token] the access token
 * @property {object} [mount] settings of the mount, which docs/gateway.md describes
 * @property {'legacy'} [mode] how the official client connects directly, if it cannot negotiate
 * @property {[string, object]} call a tool and its arguments. The result is the same each time
 * @property {[string, object]} [before] a call in the same session before it, whose effect its result shows
 */

/** Programs that show a stdio server at a URL. */
export const BRIDGES = {
  supergateway: {
    name: 'supergateway', ...npm('supergateway@4.0.0'), path: '/mcp',
    start: ['supergateway', '--stdio', '{command line}', '--outputTransport', 'streamableHttp', '--port', '{port}'],
  },
  'supergateway, with sessions': {
    name: 'supergateway', ...npm('supergateway@4.0.0'), path: '/mcp',
    start: ['supergateway', '--stdio', '{command line}', '--outputTransport', 'streamableHttp', '--stateful', '--port', '{port}'],
  },
  'mcp-proxy': { name: 'mcp-proxy', ...pypi('mcp-proxy==0.13.0'), path: '/mcp', start: ['mcp-proxy', '--port', '{port}', '--', '{command}'] },
  'mcp-proxy, stateless': {
    name: 'mcp-proxy', ...pypi('mcp-proxy==0.13.0'), path: '/mcp', start: ['mcp-proxy', '--stateless', '--port', '{port}', '--', '{command}'],
  },
}

/** The packages with their versions, for people. A package without an exact version is only an addition that the first one needs. */
const titleOf = ({ packages: [first, ...others] }) =>
  [first, ...others.filter((each) => /==|@\d+\.\d/.test(each))].map((each) => `\`${each}\``).join(' with ')

const server = (name, from, start, call, options = {}) => {
  const title = [titleOf(from), options.note, options.behind && `behind ${options.behind}`].filter(Boolean).join(', ')
  return { kind: 'server', name, title, ...from, start, call, ...options }
}

/** The servers that the tests of the MCP client run against. `scripts/setup --client-peers` installs them. */
const peers = PEERS.filter(({ path }, index) => path && PEERS.findIndex((other) => other.path === path) === index)
  .map(({ name, title, path }) => ({ kind: 'server', name: `peer-${name}`, title, peer: path, call: ['total', { a: 2, b: 3 }] }))

/** The version of pydantic for old versions of the Python SDK, which do not start with the newest one. */
const PYDANTIC_OF = Object.fromEntries(['1.8.1', '1.9.4', '1.10.1', '1.12.4', '1.18.0'].map((version) => [version, ['pydantic==2.11.10']]))

const MODES = ['sessions', 'stateless']
const ADD = ['add', { a: 2, b: 3 }]
const sdkOfPython = (version, mode) => server(`mcp-${version}-${mode}`, pypi(`mcp==${version}`, ...(PYDANTIC_OF[version] ?? [])),
  ['sdk_server.py', '{port}', mode], ADD, {
    note: mode,
    // It never answers a request that it does not know.
    ...(version === '1.8.1' && mode === 'stateless' && { mode: 'legacy' }),
  })
const fastmcp = (version, mode) =>
  server(`fastmcp-${version}-${mode}`, pypi(`fastmcp==${version}`), ['fastmcp_server.py', '{port}', mode], ADD, { note: mode })
const sdkOfTypeScript = (version, zod) => server(`sdk-${version}`, npm(`@modelcontextprotocol/sdk@${version}`, `zod@${zod}`), ['sdk-server.mjs', '{port}'],
  ['recall', {}], { before: ['remember', { text: 'hallo' }] })

export const REFERENCE = server('server-everything', npm('@modelcontextprotocol/server-everything@2026.8.31'),
  ['mcp-server-everything', 'streamableHttp'], ['echo', { message: 'hallo' }])

const SERVERS = [
  REFERENCE,
  server('server-memory', npm('@modelcontextprotocol/server-memory@2026.8.31'), ['mcp-server-memory'], ['read_graph', {}], {
    behind: 'supergateway', env: { MEMORY_FILE_PATH: '{data}/memory.json' },
  }),
  server('server-filesystem', npm('@modelcontextprotocol/server-filesystem@2026.8.31'), ['mcp-server-filesystem', '{data}'],
    ['list_directory', { path: '{data}' }], { behind: 'supergateway, with sessions' }),
  server('server-sequential-thinking', npm('@modelcontextprotocol/server-sequential-thinking@2026.8.31'),
    ['mcp-server-sequential-thinking'],
    ['sequentialthinking', {}], { behind: 'mcp-proxy' }),
  server('mcp-server-time', pypi('mcp-server-time==2026.10.19'), ['mcp-server-time', '--local-timezone', 'UTC'],
    ['convert_time', { source_timezone: 'UTC', time: '25:00', target_timezone: 'Asia/Tokyo' }], { behind: 'mcp-proxy' }),
  server('mcp-server-git', pypi('mcp-server-git==2026.10.19'),
    ['mcp-server-git'], ['git_status', { repo_path: '/nothing' }], { behind: 'mcp-proxy' }),
  server('mcp-server-fetch', pypi('mcp-server-fetch==2026.10.24'),
    ['mcp-server-fetch'], ['fetch', { url: 'http://127.0.0.1:9/' }], { behind: 'mcp-proxy' }),
  server('mcp-server-sqlite', pypi('mcp-server-sqlite==2025.4.25', 'mcp==1.30.0'), ['mcp-server-sqlite', '--db-path', '{data}/db'],
    ['list_tables', {}], { behind: 'mcp-proxy, stateless' }),
  ...peers,
  ...['1.8.1', '1.9.4', '1.10.1', '1.12.4', '1.18.0', '1.25.0', '1.30.0', '2.3.0'].flatMap((version) => MODES.map((mode) => sdkOfPython(version, mode))),
  ...['2.14.7', '3.4.11', '4.2.3'].flatMap((version) => MODES.map((mode) => fastmcp(version, mode))),
  ...[['1.13.3', '3'], ['1.20.2', '3'], ['1.25.3', '4']].map(([version, zod]) => sdkOfTypeScript(version, zod)),
  server('fastapi-mcp', pypi('fastapi-mcp==0.4.0', 'mcp==1.30.0'), ['fastapi_server.py', '{port}'], ADD),
  server('gradio', pypi('gradio[mcp]==6.31.0'), ['gradio_server.py', '{port}'], ['add', { a: 2, b: 3 }], { path: '/gradio_api/mcp/' }),
  server('fastmcp-npm', npm('fastmcp@4.20.16', 'zod@4'), ['fastmcp-server.mjs', '{port}'], ADD),
  server('hono-mcp', npm('@hono/mcp@0.3.2', '@hono/node-server@1', 'hono@4', '@modelcontextprotocol/sdk@1.32.2', 'zod@4'),
    ['hono-server.mjs', '{port}'], ADD),
  server('mcp-handler', npm('mcp-handler@2.4.0', '@hono/node-server@1', 'zod@4'), ['handler-server.mjs', '{port}'], ADD),
  server('playwright-mcp', npm('@playwright/mcp@0.0.83'),
    ['playwright-mcp', '--port', '{port}', '--headless', '--isolated', '--no-sandbox', '--executable-path', '{browser}'],
    ['browser_snapshot', {}], { host: 'localhost', before: ['browser_navigate', { url: 'data:text/html,<h1>Hallo</h1>' }] }),
  server('context7-mcp', npm('@upstash/context7-mcp@4.1.1'),
    ['context7-mcp', '--transport', 'http', '--port', '{port}'], ['resolve-library-id', {}]),
  server('notion-mcp-server', npm('@notionhq/notion-mcp-server@2.5.2'),
    ['notion-mcp-server', '--transport', 'http', '--port', '{port}', '--auth-token', 'a-token'],
    ['API-get-self', { unknown: true }], { env: { NOTION_TOKEN: 'ntn_none' }, token: 'a-token' }),
  server('eslint-mcp', npm('@eslint/mcp@0.3.13'), ['mcp'], ['lint-files', { filePaths: ['/nothing.js'] }], { behind: 'supergateway' }),
  server('chrome-devtools-mcp', npm('chrome-devtools-mcp@1.11.0'),
    ['chrome-devtools-mcp', '--headless'], ['navigate_page', { type: 'none' }], { behind: 'supergateway' }),
  server('exa-mcp-server', npm('exa-mcp-server@3.4.1'),
    ['exa-mcp-server'], ['web_search_exa', {}], { behind: 'supergateway', env: { EXA_API_KEY: 'none' } }),
  server('tavily-mcp', npm('tavily-mcp@0.2.22'),
    ['tavily-mcp'], ['tavily_extract', {}], { behind: 'supergateway', env: { TAVILY_API_KEY: 'none' } }),
  server('figma-developer-mcp', npm('figma-developer-mcp@0.13.2'),
    ['figma-developer-mcp', '--port', '{port}'], ['get_figma_data', {}], { env: { FIGMA_API_KEY: 'none' } }),
  server('server-github', npm('@modelcontextprotocol/server-github@2025.4.8'),
    ['mcp-server-github'], ['get_issue', {}], { behind: 'supergateway' }),
  server('markitdown-mcp', pypi('markitdown-mcp==0.0.1a8'), ['markitdown-mcp', '--http', '--host', '127.0.0.1', '--port', '{port}'],
    ['convert_to_markdown', { uri: 'data:text/plain,hallo' }]),
  server('duckduckgo-mcp-server', pypi('duckduckgo-mcp-server==0.7.0'),
    ['duckduckgo-mcp-server'], ['fetch_content', { url: 'http://127.0.0.1:9/' }], { behind: 'mcp-proxy' }),
  server('awslabs-documentation', pypi('awslabs.aws-documentation-mcp-server==1.2.3'), ['awslabs.aws-documentation-mcp-server'],
    ['read_documentation', { url: 'https://example.com' }], { behind: 'mcp-proxy' }),
  server('arxiv-mcp-server', pypi('arxiv-mcp-server==0.8.2'),
    ['arxiv-mcp-server', '--storage-path', '{data}'], ['list_papers', {}], { behind: 'mcp-proxy' }),
  server('calculator', pypi('mcp-server-calculator==0.2.1'),
    ['mcp-server-calculator'], ['calculate', { expression: '2+3' }], { behind: 'supergateway' }),
]

const client = (name, from, driver, options = {}) => ({
  kind: 'client', name, title: titleOf(from), ...from, driver, ...options,
})

const CLIENTS = [
  ...['1.8.1', '1.12.4', '1.18.0', '1.25.0', '1.30.0'].map((version) =>
    client(`client-mcp-${version}`, pypi(`mcp==${version}`, ...(PYDANTIC_OF[version] ?? [])), 'mcp1.py')),
  client('client-mcp-2', pypi('mcp==2.3.0'), 'mcp2.py'),
  ...['2.14.7', '3.4.11', '4.2.3'].map((version) => client(`client-fastmcp-${version}`, pypi(`fastmcp==${version}`), 'fastmcp.py')),
  client('openai-agents', pypi('openai-agents==0.24.0'), 'openai_agents.py'),
  client('langchain', pypi('langchain-mcp-adapters==0.3.2'), 'langchain.py'),
  client('llama-index', pypi('llama-index-tools-mcp==0.6.0'), 'llama_index.py'),
  client('pydantic-ai', pypi('pydantic-ai-slim[mcp]==2.68.0'), 'pydantic_ai.py'),
  client('smolagents', pypi('smolagents[mcp]==1.26.0', 'mcp==1.30.0'), 'smolagents.py'),
  client('agno', pypi('agno==3.1.10', 'fastmcp==4.2.3'), 'agno.py'),
  client('strands', pypi('strands-agents==1.62.0'), 'strands.py'),
  client('haystack', pypi('mcp-haystack==2.1.1'), 'haystack.py'),
  client('beeai', pypi('beeai-framework[mcp]==0.1.85'), 'beeai.py'),
  client('agent-framework', pypi('agent-framework-core==1.23.0', 'mcp==2.3.0', 'tenacity'), 'agent_framework.py'),
  client('autogen', pypi('autogen-ext[mcp]==0.7.5', 'mcp==1.30.0'), 'autogen.py'),
  client('dspy', pypi('dspy[mcp]==3.4.1'), 'dspy.py'),
  client('mcp-use', pypi('mcp-use==1.7.1'), 'mcp_use.py'),
  client('litellm', pypi('litellm==1.110.2', 'mcp==2.3.0', 'expression'), 'litellm.py'),
  client('chuk-mcp', pypi('chuk-mcp==0.9.4', 'pydantic'), 'chuk_mcp.py'),
  client('fast-agent', pypi('fast-agent-mcp==0.10.48'), 'fast_agent.py'),
  client('mcp-agent', pypi('mcp-agent==0.2.6', 'mcp==1.30.0'), 'mcp_agent.py'),
  client('semantic-kernel', pypi('semantic-kernel[mcp]==1.45.0'), 'semantic_kernel.py'),
  client('crewai-tools', pypi('crewai-tools[mcp]==1.15.30'), 'crewai_tools.py'),
  client('google-adk', pypi('google-adk==2.13.0', 'mcp==2.3.0'), 'google_adk.py'),
  client('camel', pypi('camel-ai==0.2.90', 'mcp==1.30.0'), 'camel.py'),
  client('langroid', pypi('langroid==0.69.16'), 'langroid.py'),
  client('praisonai', pypi('praisonaiagents==1.7.17', 'mcp==1.30.0'), 'praisonai.py'),
  client('upsonic', pypi('upsonic==0.77.3', 'mcp==1.30.0'), 'upsonic.py'),
  client('qwen-agent', pypi('qwen-agent==0.0.34', 'mcp==1.30.0', 'numpy', 'soundfile', 'tqdm', 'python-dateutil'), 'qwen_agent.py'),
  client('client-2', npm('@modelcontextprotocol/client@2.4.0'), 'client2.mjs'),
  client('client-2.0', npm('@modelcontextprotocol/client@2.0.0'), 'client2.mjs'),
  ...['1.13.3', '1.20.2', '1.25.3', '1.32.2'].map((version) => client(`client-sdk-${version}`, npm(`@modelcontextprotocol/sdk@${version}`), 'sdk.mjs')),
  client('inspector', npm('@modelcontextprotocol/inspector@2.12.0'), 'inspector.mjs'),
  client('ai-sdk', npm('@ai-sdk/mcp@2.0.99', '@ai-sdk/provider-utils'), 'ai-sdk.mjs'),
  client('mastra', npm('@mastra/mcp@2.0.0', '@mastra/core'), 'mastra.mjs'),
  client('openai-agents-npm', npm('@openai/agents@0.20.0', 'zod@4'), 'openai-agents.mjs'),
  client('langchain-npm', npm('@langchain/mcp-adapters@1.1.4', '@langchain/core'), 'langchain.mjs'),
  client('llamaindex-npm', npm('@llamaindex/tools@0.2.1'), 'llamaindex.mjs'),
  client('google-adk-npm', npm('@google/adk@2.0.0', '@modelcontextprotocol/sdk@1.32.2'), 'google-adk.mjs'),
  client('strands-npm', npm('@strands-agents/sdk@1.19.0', '@modelcontextprotocol/sdk@1.32.2'), 'strands.mjs'),
  client('genkit', npm('@genkit-ai/mcp@1.42.0', 'genkit@1.42.0'), 'genkit.mjs'),
  client('mcp-client', npm('mcp-client@1.13.1'), 'mcp-client.mjs', { skips: { 'knowledge base': 'It cannot send headers.' } }),
  client('mcporter', npm('mcporter@0.12.3'), 'mcporter.mjs'),
  client('voltagent', npm('@voltagent/core@2.10.0', 'ai', 'zod@4'), 'voltagent.mjs'),
  client('mcp-use-npm', npm('mcp-use@2.5.2', '@mcp-use/client@2.3.2'), 'mcp-use.mjs'),
  client('mcp-remote', npm('mcp-remote@0.15.1', '@modelcontextprotocol/sdk@1.32.2'), 'bridge.mjs'),
  client('supergateway-client', npm('supergateway@4.0.0', '@modelcontextprotocol/sdk@1.32.2'), 'bridge.mjs'),
  client('ag2', pypi('ag2[mcp]==1.2.1'), 'ag2.py'),
]

const signIn = (name, title, from, start, options = {}) => ({ kind: 'sign-in', name, title, ...from, start, ...options })

const SIGN_INS = [
  signIn('auth-router', '`mcpAuthRouter` of `@modelcontextprotocol/sdk@1.32.2`', npm('@modelcontextprotocol/sdk@1.32.2'), ['mcp-auth-router.mjs', '{port}']),
  ...['2.14.7', '3.4.11', '4.2.3'].map((version) => signIn(`auth-fastmcp-${version}`, `\`InMemoryOAuthProvider\` of \`fastmcp==${version}\``,
    pypi(`fastmcp==${version}`), ['in_memory.py', '{port}', 'fastmcp'])),
  ...[['1.30.0', '3.4.11'], ['2.3.0', '4.2.3']].map(([version, provider]) => signIn(`auth-mcp-${version}`,
    `\`mcp==${version}\`, with the \`InMemoryOAuthProvider\` of \`fastmcp==${provider}\``,
    pypi(`fastmcp==${provider}`, `mcp==${version}`), ['in_memory.py', '{port}', 'sdk'])),
  signIn('auth-workers', '`@cloudflare/workers-oauth-provider@1.2.3`', npm('@cloudflare/workers-oauth-provider@1.2.3', '@modelcontextprotocol/server@2.4.0'),
    ['workers-oauth-provider.mjs', '{port}']),
  // It is a package of this repository.
  { kind: 'sign-in', name: 'auth-oidc-provider', title: '`oidc-provider` 9.13' },
]

/** All subjects. `known` are the exceptions. */
export const SUBJECTS = [...SERVERS, ...CLIENTS, ...SIGN_INS].map((subject) => ({ known: [...(KNOWN[subject.name] ?? []), ...COMMON], ...subject }))
