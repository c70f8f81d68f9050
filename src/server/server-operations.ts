import { totalmem } from 'node:os'
import type { AuditTrail } from '../core/audit/audit-event.ts'
import { ContentBudget } from '../core/config/state/content-budget.ts'
import type { State } from '../core/engine/state.ts'
import type { InstanceListAnswers } from '../protocols/answers/instance-list.ts'
import type { ListFormat } from '../protocols/answers/list-format.ts'
import { Guard } from '../operations/guard.ts'
import { LongWalks } from '../core/work/long-walks.ts'
import { allOperations, type OperationParts, type Operations } from '../operations/operations.ts'
import type { Settings } from '../settings/settings.ts'
import { loop } from './process/clocks.ts'
import type { SignIn } from './sign-in/sign-in.ts'

/** What the operations of a server work on, besides what is made here. */
export interface ServerOperationParts extends Omit<
  OperationParts,
  | 'guard'
  | 'signIn'
  | 'isAuthenticationOn'
  | 'budget'
  | 'lists'
  | 'loop'
  | 'walks'
  | 'maxInstanceMetadataBytes'
  | 'maxListeningItems'
> {
  readonly lists: InstanceListAnswers
  readonly signIn: SignIn
  readonly trail: AuditTrail
}

/** The operations of a server. */
export function serverOperations(parts: ServerOperationParts, settings: Settings): Operations {
  const { state, lists, signIn, trail } = parts
  return allOperations({
    ...parts,
    guard: new Guard(signIn.authorisation, trail),
    signIn: signIn.parts,
    isAuthenticationOn: signIn.mode === 'on',
    loop,
    walks: new LongWalks(loop),
    budget: contentBudget(state, settings),
    // Requests have their format from the list endpoints.
    lists: { answer: (query) => lists.answerInSlices(query as typeof query & { format: ListFormat }) },
    maxInstanceMetadataBytes: settings.maxInstanceMetadataBytes,
    maxListeningItems: settings.maxListeningItems,
  })
}

/** Without a limit of its own the server leaves the other half to its answers and to the disk's cache. */
function contentBudget(state: State, settings: Settings): ContentBudget {
  return new ContentBudget(state, settings.maxContentMemoryBytes || Math.floor(memoryLimitBytes() / 2))
}

/** The bytes of memory that this process may use: the limit of its container if it has one, else all of the machine. */
function memoryLimitBytes(): number {
  const machine = totalmem()
  const container = process.constrainedMemory()
  // Without a limit some kernels report a number larger than any machine, others report 0.
  return container > 0 && container < machine ? container : machine
}
