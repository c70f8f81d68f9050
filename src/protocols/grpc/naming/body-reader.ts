import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_NAMING_RULES } from '../../parameters/parameter-rules.ts'
import type { ObjectSchema, Properties, Static } from '../../parameters/schema.ts'
import type { JsonObject } from '../wire/json.ts'

/** Reads keys of a body as parameters are read: absent, `null` and `''` are the same. Refusals name the key. */
export function bodyReader<T extends ObjectSchema<Properties>>(schema: T): (body: JsonObject) => Static<T> {
  const read = compileReader(schema, NACOS_NAMING_RULES)
  return (body) => read(new JsonValues(body)) as Static<T>
}
