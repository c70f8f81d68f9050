import type { MemberFacts } from '../../src/core/cluster/members/member-records.ts'
import type { InstancePlace } from '../../src/core/naming/state/presence.ts'
import type { Silence } from '../../src/core/naming/liveness/silence.ts'
import type { JudgingServer } from './judging-server.ts'

/** A server that is not answered for so long goes on without the answer, ms. */
const TIMEOUT_MS = 1_000

interface Question {
  readonly from: JudgingServer
  readonly member: MemberFacts
  readonly places: readonly InstancePlace[]
  readonly askedMs: number
  readonly resolve: (silences: readonly Silence[] | undefined) => void
  /** Undefined: it has not arrived, or its answer is lost. */
  answer: readonly Silence[] | undefined
  /** When the answer arrives. */
  arrivesMs: number
}

/** The channel between the servers: questions arrive or are lost, and answers take their time. */
export class Questions {
  #open: Question[] = []
  /** How long an answer takes, ms. */
  delayMs = 0

  ask(
    from: JudgingServer,
    { member, places, askedMs }: { member: MemberFacts; places: readonly InstancePlace[]; askedMs: number },
  ): Promise<readonly Silence[] | undefined> {
    return new Promise((resolve) => {
      this.#open.push({ from, member, places, askedMs, resolve, answer: undefined, arrivesMs: Infinity })
    })
  }

  /** Questions that have arrived by now are answered. `find` gives the process that runs at the place of a member. */
  deliver(nowMs: number, find: (member: MemberFacts) => JudgingServer | undefined): void {
    for (const question of this.#open) {
      const { from, member, askedMs } = question
      const target = find(member)
      const isReached = target?.facts.process === member.process && !target.server.isFrozen && !target.isMute
      if (question.answer === undefined && isReached && !from.isMute && nowMs - askedMs < TIMEOUT_MS) {
        question.answer = target.answer(question.places)
        question.arrivesMs = nowMs + this.delayMs
      }
    }
    this.#open = this.#open.filter((question) => !finish(question, nowMs))
  }
}

/** A frozen server sees what has come when it goes on: an answer that came in time, before that no time was left. */
function finish({ from, askedMs, answer, arrivesMs, resolve }: Question, nowMs: number): boolean {
  if (from.server.isFrozen) return false
  const isInTime = answer !== undefined && arrivesMs <= nowMs && arrivesMs - askedMs < TIMEOUT_MS
  if (!isInTime && nowMs - askedMs < TIMEOUT_MS) return false
  resolve(isInTime ? answer : undefined)
  return true
}
