import { UNRECOGNIZED_REASONS } from '../../../../archive/config-archive.ts'
import {
  IMPORT_POLICIES,
  type ImportOptions,
  type ImportOutcome,
} from '../../../../operations/config/import-configs.ts'
import * as fields from '../../../parameters/fields.ts'
import { comment } from '../../../parameters/publish-params.ts'
import { Type } from '../../../parameters/schema.ts'
import type { Answer } from '../../routing/route.ts'
import type { ReadAs, UnknownType } from './import-item.ts'

/** The common parameters of imports and clones. Without a policy no existing item is touched. */
export const POLICY_PARAMS = {
  policy: Type.Optional(
    Type.Enum([...IMPORT_POLICIES], { description: 'What happens if an item exists; ABORT by default.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Answers what would happen, and changes nothing.' })),
  src_user: Type.Optional(fields.srcUser),
  comment: Type.Optional(comment),
  seenState: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'The `state` that a dry run has answered: nothing is published if the items are others by now.',
    }),
  ),
}

/** How to import, as operations take it. */
export function importOptions({
  policy = 'ABORT',
  dryRun = false,
  src_user: srcUser,
  comment: why,
  seenState,
}: {
  policy?: string
  dryRun?: boolean
  src_user?: string
  comment?: string
  seenState?: string
}): ImportOptions & { readonly srcUser: string | undefined; readonly comment: string | undefined } {
  return { policy: policy as ImportOptions['policy'], dryRun, srcUser, comment: why, seenState }
}

/** Why something of a file is not imported, or an original is not copied. */
export const REASONS = [
  ...UNRECOGNIZED_REASONS,
  // An id of no item, or of one that the caller may not read.
  'no-item',
] as const

/** Something of a file that is not imported, or the id of an original that is not copied. */
export interface NotTaken {
  readonly name: string
  readonly reason: (typeof REASONS)[number]
}

/** How a dialect answers imports and clones. */
export interface TransferAnswers {
  readonly nothingSelected: () => Answer
  /** The items to copy do not exist. */
  readonly nothingToCopy: () => Answer
  /** The upload has no file. */
  readonly noFile: () => Answer
  /** The file has no item: a sentence about its content. */
  readonly nothingInIt: (reason: string, unrecognized: readonly NotTaken[]) => Answer
  readonly unknownNamespace: (namespaceId: string) => Answer
  readonly badMetadata: (reason: string) => Answer
  readonly done: (outcome: ImportOutcome, about: Transferred) => Answer
}

/** The kind of transfer, and the parts of an archive that could not be recognised, or the originals that were not copied. */
export interface Transferred {
  readonly what: 'import' | 'clone'
  readonly dryRun: boolean
  readonly unrecognized: readonly NotTaken[]
  /** The common folder that was taken off the names of an archive; absent: none was. */
  readonly folder?: string | undefined
  /** Items of an archive whose type is unknown. */
  readonly unknownTypes?: readonly UnknownType[]
  /** Items of an archive whose entries have names in another form of Unicode. */
  readonly readAs?: readonly ReadAs[]
}
