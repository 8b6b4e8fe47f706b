// Draws the Mermaid diagrams of a page, in the colors of the theme.

const diagrams = [...document.querySelectorAll('.mermaid')].map((element) => ({ element, source: element.textContent }))
const themeOf = (root) => (getComputedStyle(root).colorScheme === 'dark' ? 'dark' : 'default')
let drawn

async function draw() {
  const theme = themeOf(document.documentElement)
  if (theme === drawn) return
  drawn = theme
  mermaid.initialize({ startOnLoad: false, theme })
  for (const [index, { element, source }] of diagrams.entries()) {
    const { svg } = await mermaid.render(`diagram-${index}`, source)
    if (theme === drawn) element.innerHTML = svg
  }
}

// The menu of themes changes the class of the root element.
new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ['class'] })
draw()
