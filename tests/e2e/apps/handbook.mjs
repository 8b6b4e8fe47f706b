// Documents for the tests of the app.

const document = (slug, title, tags, text) => ({ slug, title, text: `---\ntags: [${tags}]\n---\n\n# ${title}\n\n${text}` })

export const HANDBOOK = [
  document('operations-keys', 'Keys and secrets', 'operations, security', `
Every service has its own keys. Nobody copies a key into a chat or into a
repository.

## Rotation of the state key

Rotate the **state key** every 90 days, and at once if somebody who knew it has
left the team. The new key comes *first* in the list, so that new calls use it,
while calls that wait for an answer can still be finished with the old one:

1. Make a new key with \`openssl rand -base64 32\`.
2. Put it before the old key, and store the list:

   \`\`\`sh
   npx wrangler secret put MCP_STATE_KEY
   \`\`\`

3. Remove the old key after one day. By then each call that began with it has
   ended. A call with a removed key fails, and its client has to start again.

Note the day in the [calendar of the team](https://calendar.example.com/keys).
If the rotation fails, tell the person on call before you try again.

## Where keys are stored

| key | stored in | rotated |
|---|---|---|
| \`MCP_STATE_KEY\` | secret of the Worker | every 90 days |
| token of the database | vault | every year |
| key for signatures | hardware module | never |
`),
  document('operations-on-call', 'On call', 'operations', `
One person is on call each week, from Monday at 10:00. The plan is in the
calendar.

## Alarms

If an alarm rings, write *what you see* into the channel first. Then look for
the alarm in this list:

- **Slow answers**: look at the dashboard of the database. If a statement takes
  more than a second, follow the page about backups, because a copy may be
  running.
- **Refused tokens**: a key was probably rotated on one side only. The state
  key is not involved: it protects calls that wait for an answer.
- **Anything else**: wake the second person.
`),
  document('operations-backups', 'Backups', 'operations, database', `
The database is copied every night at 02:00. A copy stays for 30 days.

## Restoring a copy

Restore a copy into a new database, check it, and then switch the Worker:

\`\`\`sh
npx wrangler d1 time-travel restore DB --timestamp 2026-11-24T02:00:00Z
\`\`\`
`),
  document('people-travel', 'Travel', 'people', `
Book trains and hotels yourself, up to 300 euros a day. Ask before you fly.
Receipts go to the office within a month. Leave your hardware key in the safe
of the hotel, and never travel with the key for signatures.
`),
]

const CELLS = 60
/** A document that tries to be more than text. */
export const HOSTILE = document('hostile', '<img src=x onerror=alert(1)> Trap', '"<b>bold</b>"', `
<script>window.trapped = true</script> A trap <img src=x onerror="window.trapped = true"> waits.
[Click the trap](javascript:window.trapped=true), [or this](data:text/html,<script>1</script>), or
[the site](https://example.com/trap).

<!-- a comment --> <style>body { display: none }</style>

| ${Array.from({ length: CELLS }, (_, nth) => `trap ${nth}`).join(' | ')} |
|${'---|'.repeat(CELLS)}

${'> '.repeat(40)}deep trap
`)
