import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'

const { pattern = '', allowed = '' } = fields.namespaceId

const namespaceIdOrAll = Type.String({
  ...fields.namespaceId,
  pattern: `${pattern}|^\\*$`,
  allowed: `*, or ${allowed}`,
  description:
    'The namespace; absent, empty and `public` are the same one. `*`: every one that the caller may read.',
})

/** The parameters that say of which namespace, or of all, something is shown. */
export const SCOPE_PARAMS = { namespaceId: Type.Optional(namespaceIdOrAll) }

/** The namespace of a request; undefined: every namespace. */
export function scopeOf(params: { readonly namespaceId?: string }): string | undefined {
  return params.namespaceId === '*' ? undefined : toNamespaceId(params.namespaceId)
}
