// Instructions for connecting each client to this server.

function copyable(text) {
  const button = el('button', { type: 'button', className: 'quiet' }, 'Copy')
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Select the text and copy it'
    }
    announce(button.textContent)
  })
  return el('div', { className: 'copyable' }, pre(text), button)
}

/**
 * Shows the instructions for each client. `needsToken` is whether the server requires a token, and `letsSignIn` whether it names an
 * authorization server.
 */
function connect(needsToken, letsSignIn) {
  const url = URL_FOR_CLIENTS
  const key = SERVER.replace(/[^\w-]+/g, '-')
  const header = needsToken ? ' -H "Authorization: Bearer $TOKEN"' : ''
  const withHeaders = (server, value) =>
    (needsToken ? { ...server, headers: { Authorization: `Bearer ${value}` } } : server)
  const remote = needsToken
    ? { args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH}'], env: { AUTH: 'Bearer YOUR-TOKEN' } }
    : { args: ['-y', 'mcp-remote', url] }
  const clients = [
    ['Claude Code', 'In a terminal:',
      `claude mcp add --transport http ${key} ${url}${header.replace(' -H ', ' --header ')}`],
    ['Claude Desktop, claude.ai',
      'For a server on the internet with sign-in or without authentication: open Settings, Connectors, Add custom connector, and ' +
      'enter the URL above. For a server that requires a fixed token, or a server on your machine, Claude Desktop needs mcp-remote ' +
      '(Node.js 18 or newer). Open claude_desktop_config.json with Settings, Developer, Edit Config, and add:',
      pretty({ mcpServers: { [key]: { command: 'npx', ...remote } } })],
    ['Cursor', 'In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:',
      pretty({ mcpServers: { [key]: withHeaders({ url }, '${env:TOKEN}') } })],
    ['VS Code', 'In .vscode/mcp.json:',
      pretty({
        ...(needsToken ? { inputs: [{ type: 'promptString', id: `${key}-token`, description: `Token of ${key}`, password: true }] } : {}),
        servers: { [key]: withHeaders({ type: 'http', url }, `\${input:${key}-token}`) },
      })],
    ['curl', 'In a terminal, to send one request:',
      `curl -s ${url}${header} -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`],
  ]
  const signIn = letsSignIn
    ? [el('p', { className: 'hint' }, 'This server names its authorization server. A client that supports sign-in needs only the URL.')]
    : []
  const section = byId('connect')
  section.hidden = false
  section.replaceChildren(byId('connect-title'), ...signIn, ...clients.map(([client, words, text]) =>
    el('details', { className: 'card', name: 'client' }, el('summary', {}, el('h3', {}, client)), el('p', {}, words), copyable(text))))
}
