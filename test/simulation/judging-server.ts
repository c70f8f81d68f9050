import { LiveProcesses } from '../../src/core/cluster/members/live-processes.ts'
import { ConnectionInstances } from '../../src/core/naming/connections/connection-instances.ts'
import { MEMBER, memberIdOf, type MemberFacts } from '../../src/core/cluster/members/member-records.ts'
import { VERSIONS } from '../../src/core/cluster/members/versions.test-support.ts'
import type { InstancePlace } from '../../src/core/naming/state/presence.ts'
import type { Silence } from '../../src/core/naming/liveness/silence.ts'
import { SharedNamingCare, type SharedNamingCareOptions } from '../../src/cluster/shared-naming-care.ts'
import type { Planted } from './planted-faults.ts'
import { KEPT_MS, type SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'

/** The dependencies of a process of a server that judges. */
export interface JudgingParts {
  readonly server: SimulatedServer
  /** Names the place of the server among all. */
  readonly index: number
  /** Names the process. */
  readonly process: string
  readonly nowMs: () => number
  readonly ask: (
    from: JudgingServer,
    member: MemberFacts,
    places: readonly InstancePlace[],
  ) => Promise<readonly Silence[] | undefined>
  /** May plant faults. */
  readonly planted: Planted
}

/** One process of a server that is a member, hears beats, and judges silence as the product does. */
export class JudgingServer {
  readonly server: SimulatedServer
  readonly index: number
  readonly facts: MemberFacts
  readonly #care: SharedNamingCare
  readonly #restores: boolean
  /** The instances that the connections of this process publish. */
  readonly connections: ConnectionInstances
  readonly #nowMs: () => number
  /** Until when the others certainly count it as a member. */
  certainUntilMs = 0
  /** Whether it cannot reach the store. */
  isCut = false
  /** Whether the other servers cannot reach it. */
  isMute = false
  /** Whether its requests to the store are held up on their way; what it gets from there is not. */
  isSlow = false
  #answer: Answer | undefined

  constructor({ server, index, process, nowMs, ask, planted }: JudgingParts) {
    this.server = server
    this.index = index
    this.#nowMs = nowMs
    this.facts = factsOf(index, process)
    const { state, liveness, engine, health, loop } = server
    this.connections = new ConnectionInstances({
      state,
      processes: liveness.processes,
      engine,
      process,
      clock: health,
      monotonicMs: nowMs,
      loop,
      canWrite: () => this.isMember,
      report: (error) => violation(String(error)),
      keptMs: KEPT_MS,
    })
    this.#restores = planted.restores
    this.#care = new SharedNamingCare({
      state,
      liveness,
      isAlive: new LiveProcesses(state, process).has,
      engine,
      loop,
      monotonicMs: nowMs,
      clock: health,
      self: this.id,
      isMember: () => !planted.heedsLease || this.isMember,
      client: {
        ask: (member, question, places) =>
          ask(this, member, places as unknown as readonly InstancePlace[]) as ReturnType<
            Ask<typeof question>
          >,
      } as SharedNamingCareOptions['client'],
      log: { warn: () => {} },
      report: (error) => violation(String(error)),
      emptyServiceExpiryMs: EMPTY_MS,
      expiredMetadataTimeMs: EMPTY_MS,
    })
    const answering = { answer: (_question: unknown, answer: Answer) => (this.#answer = answer) }
    this.#care.answerOn(answering as unknown as Parameters<SharedNamingCare['answerOn']>[0])
  }

  get id(): string {
    return memberIdOf(this.facts)
  }

  /** Whether its lease is certain. */
  get isMember(): boolean {
    return this.#nowMs() < this.certainUntilMs
  }

  /** Whether it is in the list of members, as it knows it. */
  get isListed(): boolean {
    return this.server.state.record(MEMBER, this.id) !== undefined
  }

  /** Its work four times a second. */
  sweep(): void {
    this.#care.sweep()
    if (this.#restores) this.connections.tick()
  }

  /** It has read everything: it may have missed who was lost. */
  reloaded(): void {
    this.#care.reloaded()
  }

  /** For how long it has not heard these instances. */
  answer(places: readonly InstancePlace[]): readonly Silence[] {
    return this.#answer!(places)
  }
}

const EMPTY_MS = 60_000

type Answer = (places: readonly InstancePlace[]) => readonly Silence[]

type Ask<Question> = (question: Question) => Promise<unknown>

function factsOf(index: number, process: string): MemberFacts {
  const port = 8_848 + index
  return {
    ip: '10.0.0.9',
    port,
    peerPort: port,
    site: '',
    version: '1',
    process,
    auth: 'on',
    versions: VERSIONS,
  }
}
