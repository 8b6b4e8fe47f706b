// How each client is connected with this server.

function copyable(text) {
  const button = el('button', { type: 'button', className: 'quiet' }, 'Copy')
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Select it, and copy by hand'
    }
    announce(button.textContent)
  })
  return el('div', { className: 'copyable' }, pre(text), button)
}

/** What to do in each client. `wantsToken`: the server has said so; `letsSignIn`: it has said where to get one. */
function connect(wantsToken, letsSignIn) {
  const url = URL_FOR_CLIENTS
  const key = SERVER.replace(/[^\w-]+/g, '-')
  const header = wantsToken ? ' -H "Authorization: Bearer $TOKEN"' : ''
  const withHeaders = (server, value) =>
    (wantsToken ? { ...server, headers: { Authorization: `Bearer ${value}` } } : server)
  const remote = wantsToken
    ? { args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH}'], env: { AUTH: 'Bearer YOUR-TOKEN' } }
    : { args: ['-y', 'mcp-remote', url] }
  const clients = [
    ['Claude Code', 'In a terminal:',
      `claude mcp add --transport http ${key} ${url}${header.replace(' -H ', ' --header ')}`],
    ['Claude Desktop, claude.ai',
      'Settings, Connectors, Add custom connector, with the URL above: for servers that are on the internet, and let people sign in ' +
      'or ask nobody who they are. With a token, or for a server on your machine, Claude Desktop needs mcp-remote (Node 18 or newer), in ' +
      'claude_desktop_config.json, which Settings, Developer, Edit Config opens:',
      pretty({ mcpServers: { [key]: { command: 'npx', ...remote } } })],
    ['Cursor', 'In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:',
      pretty({ mcpServers: { [key]: withHeaders({ url }, '${env:TOKEN}') } })],
    ['VS Code', 'In .vscode/mcp.json:',
      pretty({
        ...(wantsToken ? { inputs: [{ type: 'promptString', id: `${key}-token`, description: `Token of ${key}`, password: true }] } : {}),
        servers: { [key]: withHeaders({ type: 'http', url }, `\${input:${key}-token}`) },
      })],
    ['curl', 'One request, one answer:',
      `curl -s ${url}${header} -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`],
  ]
  const signIn = letsSignIn
    ? [el('p', { className: 'hint' }, 'This server says where people sign in: a client that can do that needs the URL alone.')]
    : []
  const section = byId('connect')
  section.hidden = false
  section.replaceChildren(byId('connect-title'), ...signIn, ...clients.map(([client, words, text]) =>
    el('details', { className: 'card', name: 'client' }, el('summary', {}, el('h3', {}, client)), el('p', {}, words), copyable(text))))
}
