/** Types of answers from the OpenAPI document: each schema that is used becomes an interface or a type. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow, root } from './prepare.js'

const HEAD = `/**
 * The answers of the server: generated from the OpenAPI document by \`npm run docs\`. Do not edit. It has the types that
 * are imported from it.
 */
`
const IMPORT = /^(?:import|export) type \{([^}]*)\} from '[^']*\/answers\.ts'$/gm

/** The text of `answers.ts` for the code below a folder, from the schemas of the document. */
export function answerTypes(schemas, folder) {
  const names = new Set(importedBelow(folder))
  // A loop over a Set also visits values that are added during the loop.
  for (const name of names) {
    if (schemas[name] === undefined)
      throw new Error(`${folder} imports ${name}: the document has no such schema`)
    for (const referred of referredIn(schemas[name])) names.add(referred)
  }
  const used = Object.keys(schemas).filter((name) => names.has(name))
  return `${HEAD}\n${used.map((name) => typeNamed(name, schemas[name])).join('\n')}`
}

/** The names that code imports from its `answers.ts`. */
function importedBelow(folder) {
  const sources = filesBelow(join(root, folder)).filter((file) => /\.tsx?$/.test(file))
  return sources
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(IMPORT)])
    .flatMap(([, names]) => names.match(/\w+(?: as \w+)?/g).map((name) => name.split(' ')[0]))
}

function referredIn(schema) {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  )
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
