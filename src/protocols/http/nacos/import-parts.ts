import { IMPORT_POLICIES, type ImportOptions } from '../../../operations/import-configs.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'

/** What an import and a clone have in common. Without a policy nothing that exists is touched. */
export const POLICY_PARAMS = {
  policy: Type.Optional(
    Type.Enum([...IMPORT_POLICIES], { description: 'What happens if an item exists; ABORT by default.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Answers what would happen, and changes nothing.' })),
  src_user: Type.Optional(fields.srcUser),
}

/** How to import, as operations take it. */
export function importOptions({
  policy = 'ABORT',
  dryRun = false,
  src_user: srcUser,
}: {
  policy?: string
  dryRun?: boolean
  src_user?: string
}): ImportOptions & { readonly srcUser: string | undefined } {
  return { policy: policy as ImportOptions['policy'], dryRun, srcUser }
}

/** The message of a success; it says of a dry run that it was one. */
export function messageOf(success: string, { dryRun }: ImportOptions): string {
  return dryRun ? 'dry run: nothing was changed' : success
}
