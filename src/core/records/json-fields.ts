/** The fields of a JSON object. Throws an Error for any other value. */
export function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>
  throw new Error('its value is not an object')
}

/** The text in a field. Throws an Error that names the field. */
export function textIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw new Error(`its field ${name} is not a text`)
}

/** The number in a field. Throws an Error that names the field. */
export function numberIn(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name]
  if (typeof value === 'number') return value
  throw new Error(`its field ${name} is not a number`)
}
