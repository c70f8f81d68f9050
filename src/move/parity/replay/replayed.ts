import type { PlanNote } from '../../../plan/plan.ts'
import { messageOf } from '../../../command/command-line.ts'
import type { KnownServer } from '../../old/detect-server.ts'
import { CallError } from '../../old/fields.ts'
import type { ComparedFields } from '../compared-fields.ts'
import { type Difference, differingFields } from '../differences.ts'

/** The two servers that get the same requests. */
export interface BothServers {
  readonly old: KnownServer
  readonly new: KnownServer
}

/** The results of replaying one kind of read. */
export class Replayed {
  readonly kind: string
  readonly differences: Difference[] = []
  readonly failed: PlanNote[] = []
  /** How many reads were replayed. */
  count = 0

  constructor(kind: string) {
    this.kind = kind
  }

  /** Asks both servers, and compares the fields that a client sees. */
  async compare(
    name: string,
    servers: BothServers,
    ask: (server: KnownServer) => Promise<ComparedFields>,
  ): Promise<void> {
    const asked = ([which, server]: readonly ['old' | 'new', KnownServer]): Promise<
      ComparedFields | undefined
    > =>
      ask(server).catch((error: unknown) => {
        if (!(error instanceof CallError)) throw error
        const about = `${this.kind} (${which})`
        this.failed.push({ kind: 'cannot-come', about, name, reason: messageOf(error) })
        return undefined
      })
    const answers = await Promise.all([asked(['old', servers.old]), asked(['new', servers.new])])
    this.count++
    const [old, other] = answers
    if (old === undefined || other === undefined) return
    this.differences.push(...differingFields(this.kind, name, [old, other]))
  }
}

/** Whether both servers have the interface of generation 3, and one may have only this interface. */
export function isGeneration3({ old, new: other }: BothServers): boolean {
  const kinds = [old.kind, other.kind]
  return kinds.includes('java-3') && kinds.every((kind) => kind === 'java-3' || kind === 'waypost')
}
