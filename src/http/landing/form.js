// A form for an input schema. What is typed is not judged here but by the server, whose word counts.

let ids = 0

/** The schema that is meant: references followed, and the null that leaving out stands for taken away. */
function plain(schema, root) {
  for (let steps = 0; steps < 8 && schema !== null && typeof schema === 'object'; steps++) {
    const { $ref, anyOf, allOf, type, ...rest } = schema
    const others = anyOf?.filter((one) => one?.type !== 'null')
    if ($ref?.startsWith('#/')) {
      const keys = $ref.slice(2).split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
      schema = { ...keys.reduce((at, key) => at?.[key], root), ...rest }
    } else if (others?.length === 1) schema = { ...rest, ...others[0] }
    else if (allOf?.length === 1) schema = { ...rest, ...allOf[0] }
    else if (Array.isArray(type) && type.includes('null') && type.length === 2) {
      schema = { ...schema, type: type.find((one) => one !== 'null') }
    } else return schema
  }
  return {}
}

/** The values among which a schema lets choose, if that is what it does. */
function choices({ enum: values, const: only, oneOf, type }) {
  if (values) return values.filter((value) => value !== null)
  if (only !== undefined) return [only]
  if (oneOf?.length && oneOf.every((one) => one?.const !== undefined)) return oneOf.map((one) => one.const)
  return type === 'boolean' ? [true, false] : undefined
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const range = (from, to, unit) => (from === undefined && to === undefined ? '' : `${from ?? '…'} to ${to ?? '…'}${unit}`)

/**
 * A label, a control and what is said of them. `json()` is what was put in, as JSON text; undefined if it is left out.
 */
function field(name, schema, isRequired) {
  const id = `field-${++ids}`
  const values = choices(schema)
  const kind = values ? 'choice' : ['string', 'number', 'integer'].includes(schema.type) ? schema.type : 'json'
  const left = schema.default === undefined ? 'left out' : `left out: ${JSON.stringify(schema.default)}`
  // A text without lines takes Enter as any field does; one that may be long, as a new line.
  const isLong = kind === 'json' || schema.maxLength > 500
  const control = values
    ? el('select', {}, ...(isRequired ? [] : [el('option', { value: '' }, left)]),
      ...values.map((value) => el('option', { value: JSON.stringify(value) }, typeof value === 'string' ? value : JSON.stringify(value))))
    : el('textarea', {
      rows: isLong ? 4 : 1,
      autocomplete: 'off',
      placeholder: isRequired ? '' : left,
      inputMode: { number: 'decimal', integer: 'numeric' }[kind] ?? 'text',
      className: kind === 'json' ? 'code' : '',
      onkeydown(event) {
        if (event.key !== 'Enter' || isLong || event.shiftKey || event.isComposing) return
        event.preventDefault()
        control.form.requestSubmit()
      },
    })
  control.id = id
  control.required = isRequired
  const { description, minLength, maxLength, minimum, maximum, format, pattern } = schema
  const says = hint(description, range(minLength, maxLength, ' characters'), range(minimum, maximum, ''), pattern ?? format)
  says.id = `${id}-hint`
  control.setAttribute('aria-describedby', says.id)
  const element = el('div', { className: 'field' },
    el('label', { htmlFor: id }, code(name), ' ',
      el('small', {}, [kind === 'json' ? 'JSON' : schema.type ?? kind, ...(isRequired ? ['required'] : [])].join(', '))),
    control,
    says)

  const json = () => {
    const text = control.value
    if (text.trim() === '' && !(isRequired && kind === 'string')) return undefined
    if (kind === 'string') return JSON.stringify(text)
    if (kind === 'number' || kind === 'integer') return NUMBER.test(text.trim()) ? text.trim() : JSON.stringify(text)
    try {
      JSON.parse(text)
      return text
    } catch (cause) {
      throw new Error(`“${name}” is not JSON: ${cause.message}`)
    }
  }
  return { name, element, control, json }
}

/** The fields of a tool's arguments, what they come to as JSON text, and the headers that repeat some of them. */
function argumentsOf(root) {
  const { properties, required = [], additionalProperties } = root
  const mayHaveOthers = additionalProperties !== false &&
    (!properties || ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties'].some((keyword) => root[keyword]))
  if (mayHaveOthers) {
    const whole = field('arguments', { description: 'All arguments, as one JSON object' }, false)
    return { fields: [whole], json: () => whole.json() ?? '{}' }
  }
  const fields = Object.entries(properties ?? {})
    .map(([name, schema]) => field(name, plain(schema, root), required.includes(name)))
  const json = () => {
    const members = fields.map((each) => [each.name, each.json()]).filter(([, value]) => value !== undefined)
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  }
  return { fields, json }
}

/** The arguments that a schema wants repeated in headers, for proxies. */
function mirrored(schema, values, headers = {}) {
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const value = values?.[name]
    if (value === undefined || value === null) continue
    if (property?.['x-mcp-header']) headers[`Mcp-Param-${property['x-mcp-header']}`] = headerValue(String(value))
    mirrored(property, value, headers)
  }
  return headers
}
