// Draws a chart of a run. Each bar has its number beside it, so the chart is readable without colors, in light and dark mode.

import { median } from './statistics.mjs'
import { isOurs } from './subjects.mjs'

const WIDTH = 760
const LABELS = 170
const BAR = 18
const STEP = 26

/** @returns {string} an SVG */
export function chart(result) {
  const of = (member) => Object.entries(result.starts).map(([name, one]) => ({ name, value: median(one[member]) }))
  const panels = [
    {
      title: 'tools/call small, CPU microseconds per request: less is better',
      bars: result.rows.filter(({ work, subject }) => work === 'tools/call small' && subject in result.sizes)
        .map(({ subject, cpu_us: cpu }) => ({ name: subject, value: median(cpu) })),
    },
    { title: 'the same over the first 500 requests of a new process', bars: of('first_500_us') },
    { title: 'start of the process to its first answer, in milliseconds: less is better', bars: of('start_ms') },
  ]
  let top = 0
  const drawn = panels.map(({ title, bars }) => {
    const from = top
    top += 44 + bars.length * STEP
    return panel(title, bars, from)
  })
  const height = top + 10
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${panels.map(({ title }) => title).join('; ')}">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
rect { fill: #8c959f }
.ours { fill: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #6e7681 } .ours { fill: #4493f8 } }
</style>
${drawn.join('\n')}
</svg>
`
}

function panel(title, bars, top) {
  const most = Math.max(...bars.map(({ value }) => value))
  const room = WIDTH - LABELS - 80
  const rows = bars.map(({ name, value }, index) => {
    const y = top + 36 + index * STEP
    const length = Math.max(1, Math.round(value / most * room))
    const ours = isOurs(name) ? ' class="ours"' : ''
    return `<text x="${LABELS - 8}" y="${y + 14}" text-anchor="end">${escaped(name)}</text>`
      + `<rect x="${LABELS}" y="${y}" width="${length}" height="${BAR}" rx="2"${ours}/>`
      + `<text x="${LABELS + length + 6}" y="${y + 14}">${Math.round(value)}</text>`
  })
  return [`<text class="title" x="0" y="${top + 22}">${escaped(title)}</text>`, ...rows].join('\n')
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
