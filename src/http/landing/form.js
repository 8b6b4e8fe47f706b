// A form for an input schema. The form does not validate the values. The server does.

let ids = 0

/** Resolves references, and removes `null` from the types: an empty field omits the argument instead. */
function resolvedSchema(schema, root) {
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

/** Returns the values that a schema allows, if it lists them. */
function choices({ enum: values, const: only, oneOf, type }) {
  if (values) return values.filter((value) => value !== null)
  if (only !== undefined) return [only]
  if (oneOf?.length && oneOf.every((one) => one?.const !== undefined)) return oneOf.map((one) => one.const)
  return type === 'boolean' ? [true, false] : undefined
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const range = (from, to, unit) => (from === undefined && to === undefined ? '' : `${from ?? '…'} to ${to ?? '…'}${unit}`)

/**
 * Returns the field of an argument: a label, a control and a description. `json()` returns the value as JSON text, or undefined if the
 * argument is omitted.
 */
function field(name, schema, isRequired) {
  const id = `field-${++ids}`
  const values = choices(schema)
  const kind = values ? 'choice' : ['string', 'number', 'integer'].includes(schema.type) ? schema.type : 'json'
  const unset = schema.default === undefined ? 'not set' : `default: ${JSON.stringify(schema.default)}`
  // In a short text, Enter submits the form. In a long text or in JSON, Enter inserts a line break.
  const isLong = kind === 'json' || schema.maxLength > 500
  const control = values
    ? el('select', {}, ...(isRequired ? [] : [el('option', { value: '' }, unset)]),
      ...values.map((value) => el('option', { value: JSON.stringify(value) }, typeof value === 'string' ? value : JSON.stringify(value))))
    : el('textarea', {
      rows: isLong ? 4 : 1,
      autocomplete: 'off',
      placeholder: isRequired ? '' : unset,
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
  const helpText = hint(description, range(minLength, maxLength, ' characters'), range(minimum, maximum, ''), pattern ?? format)
  helpText.id = `${id}-hint`
  control.setAttribute('aria-describedby', helpText.id)
  const element = el('div', { className: 'field' },
    el('label', { htmlFor: id }, code(name), ' ',
      el('small', {}, [kind === 'json' ? 'JSON' : schema.type ?? kind, ...(isRequired ? ['required'] : [])].join(', '))),
    control,
    helpText)

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

/** Returns a field for each argument. `json()` returns all arguments as JSON text. */
function argumentsOf(root) {
  const { properties, required = [], additionalProperties } = root
  const mayHaveOthers = additionalProperties !== false &&
    (!properties || ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties'].some((keyword) => root[keyword]))
  if (mayHaveOthers) {
    const whole = field('arguments', { description: 'All arguments, as one JSON object' }, false)
    return { fields: [whole], json: () => whole.json() ?? '{}' }
  }
  const fields = Object.entries(properties ?? {})
    .map(([name, schema]) => field(name, resolvedSchema(schema, root), required.includes(name)))
  const json = () => {
    const members = fields.map((each) => [each.name, each.json()]).filter(([, value]) => value !== undefined)
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  }
  return { fields, json }
}

/** Returns the headers that repeat the arguments marked with `x-mcp-header`. Proxies route by these headers. */
function mirroredHeaders(schema, values, headers = {}) {
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const value = values?.[name]
    if (value === undefined || value === null) continue
    if (property?.['x-mcp-header']) headers[`Mcp-Param-${property['x-mcp-header']}`] = headerValue(String(value))
    mirroredHeaders(property, value, headers)
  }
  return headers
}
