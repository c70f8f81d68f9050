import { fieldsOf, textIn } from '../records/shape.ts'
import { defineRecordKind } from '../records/record-kind.ts'

/** A listed namespace. Unlisted ones work as well: the list is for people. */
export interface Namespace {
  readonly id: string
  readonly showName: string
  readonly desc: string
}

/** The namespaces of the list, by id, without `public`. */
export const NAMESPACE = defineRecordKind<Namespace>('namespace', (json, id) => {
  const fields = fieldsOf(json)
  return { id, showName: textIn(fields, 'showName'), desc: textIn(fields, 'desc') }
})
