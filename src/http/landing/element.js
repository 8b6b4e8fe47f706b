// Creates elements. The app of the knowledge base uses this file too.

/** Creates an element. Names with a hyphen, and `role`, are attributes. All other names are properties. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') element.setAttribute(name, value)
    else element[name] = value
  }
  element.append(...children.filter(Boolean))
  return element
}
