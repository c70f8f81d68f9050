import { PUBLIC_NAMESPACE } from '../../../core/namespace-id.ts'
import type { State } from '../../../core/state.ts'
import type { ConfigParts } from '../endpoints/config/config-parts.ts'
import * as fields from '../../parameters/fields.ts'
import type { Caller } from '../routing/route.ts'
import { Type } from '../../parameters/schema.ts'
import { IMPORT_POLICIES, type ImportWish } from '../endpoints/transfer/import-configs.ts'

/** What imports work on. Sizes in bytes: of the upload, and of all that it unpacks to. */
export interface ImportRouteParts extends ConfigParts {
  readonly state: ConfigParts['state'] & Pick<State, 'namespace'>
  readonly maxImportBytes: number
  readonly maxImportContentBytes: number
}

/** What an import and a clone have in common. Without a policy nothing that exists is touched. */
export const POLICY_PARAMS = {
  policy: Type.Optional(
    Type.Enum([...IMPORT_POLICIES], { description: 'What happens where an item exists; ABORT unless told.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Tells what would happen, and changes nothing.' })),
  src_user: Type.Optional(fields.srcUser),
}

/** The default namespace always exists. */
export function isListed(state: Pick<State, 'namespace'>, namespaceId: string): boolean {
  return namespaceId === PUBLIC_NAMESPACE || state.namespace(namespaceId) !== undefined
}

/** How to import, from what was sent. */
export function importWish(
  {
    policy = 'ABORT',
    dryRun = false,
    src_user: user,
  }: { policy?: string; dryRun?: boolean; src_user?: string },
  { ip }: Pick<Caller, 'ip'>,
): ImportWish {
  return { policy: policy as ImportWish['policy'], dryRun, operator: { ip, user: user ?? null } }
}

/** The message of a success, which says of a dry run that it was one. */
export function messageOf(success: string, { dryRun }: ImportWish): string {
  return dryRun ? 'dry run: nothing was changed' : success
}
