/** Types for the console from the OpenAPI document: each schema with a name becomes an interface or a type. */

const HEAD = `/**
 * What the server answers: generated from docs/openapi.json by \`npm run docs\`. Do not edit.
 */
`

/** The text of the file, from the text of the document. */
export function consoleTypes(documentText) {
  const { schemas } = JSON.parse(documentText).components
  const types = Object.entries(schemas).map(([name, schema]) => typeNamed(name, schema))
  return `${HEAD}\n${types.join('\n')}`
}

function typeNamed(name, schema) {
  const comment = commentOf(schema, '')
  if (schema.properties === undefined) return `${comment}export type ${name} = ${typeOf(schema, '')}\n`
  return `${comment}export interface ${name} ${objectOf(schema, '')}\n`
}

function typeOf(schema, indent) {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '')
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'array':
      return `readonly ${bracketed(typeOf(schema.items, indent))}[]`
    case 'object':
      return schema.properties === undefined ? recordOf(schema, indent) : objectOf(schema, indent)
    default:
      return 'unknown'
  }
}

function recordOf({ additionalProperties }, indent) {
  const isKnown = typeof additionalProperties === 'object'
  return `Readonly<Record<string, ${isKnown ? typeOf(additionalProperties, indent) : 'unknown'}>>`
}

function objectOf({ properties, required = [] }, indent) {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
    const mark = required.includes(name) ? '' : '?'
    return `${commentOf(schema, inner)}${inner}readonly ${key}${mark}: ${typeOf(schema, inner)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function commentOf({ description, anyOf = [] }, indent) {
  const text = description ?? anyOf.find((one) => one.description !== undefined)?.description
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`
}

const bracketed = (type) => (type.includes(' | ') || type.startsWith('readonly ') ? `(${type})` : type)

const literal = (value) =>
  typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value)
