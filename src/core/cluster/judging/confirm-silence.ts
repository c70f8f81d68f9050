import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { addressText, type Publisher } from '../../naming/state/instance.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import type { Liveness } from '../../naming/liveness/liveness.ts'
import { serviceKeyText } from '../../naming/state/service.ts'
import { changesOfSilence, type SilenceEffect } from '../../naming/liveness/silence.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { MEMBER } from '../members/member-records.ts'
import { connectionOf } from '../../naming/state/connection-publisher.ts'
import { type ConnectionProcesses, orphansLeave } from '../../naming/liveness/connection-processes.ts'

/** How long the answers of the members count, in ms: a beat may have come since. */
const ANSWERS_COUNT_MS = 3_000

/** A silence that the members' answers have confirmed. */
export interface Evidence {
  readonly instance: Instance
  readonly effect: SilenceEffect
  /** Health time of the question. */
  readonly askedMs: number
  /** All members, as `membersText` names them: each was asked. */
  readonly members: string
}

/** This server as a member that votes. */
export interface VotingMember {
  readonly liveness: Liveness
  /** The member id of this server. */
  readonly self: string
  /** Whether the lease of this server is certain. */
  readonly isMember: () => boolean
}

/** The members and their processes, as a text: it differs if anybody has come, left or restarted. */
export function membersText(view: RecordView): string {
  return Array.from(view.records(MEMBER), ([id, { process }]) => `${id} ${process}`)
    .sort()
    .join()
}

/**
 * The command that carries out a confirmed silence. It answers false, and changes nothing, if the instance has changed or
 * beaten since, or if the asked members are not the present ones. The store compares its reads: the instance, all members,
 * and this server's own record. So nobody has joined, and a commit after the end of this server's lease is not written.
 */
export function confirmSilence(evidence: Evidence, voter: VotingMember): Command<boolean> {
  const { instance, effect, askedMs, members } = evidence
  const { entry, record, healthy } = instance
  const serviceKey = entry.service.key
  const { atMs: lastBeatMs } = voter.liveness.lastBeatOf(instance)
  const isStillSilent = (nowMs: number): boolean =>
    nowMs - askedMs <= ANSWERS_COUNT_MS && voter.liveness.lastBeatOf(instance).atMs === lastBeatMs
  return {
    // A subject of its own, so that neither registrations nor other silences of the service wait for it.
    subject: `silence:${serviceKeyText(serviceKey)} ${addressText(record.address)}`,
    decide(view, now) {
      if (!voter.isMember() || !isStillSilent(now.healthMs)) return unchanged(false)
      const known = view.instance(serviceKey, record.address)
      const isSame = known?.record === record && known.healthy === healthy
      const isOwnLease = view.record(MEMBER, voter.self) !== undefined
      if (!isSame || !isOwnLease || membersText(view) !== members) return unchanged(false)
      const remembers = effect === 'removed' && voter.liveness.remembersRemoved(instance)
      const changes = changesOfSilence(view, instance, { effect, remembers, stamp: now.stamp })
      return changes.length === 0 ? unchanged(false) : synced(changes, true)
    },
  }
}

/**
 * Lets the orphans at an address leave. It answers false, and changes nothing, if the instance or its claims have changed,
 * or if the process is a member again. The store compares the instance, all members (so that nobody has joined) and this
 * server's own record, as `confirmSilence` does.
 */
export function removeOrphan(
  instance: Instance,
  { self, isMember, liveness }: Pick<VotingMember, 'self' | 'isMember'> & OrphanJudge,
): Command<boolean> {
  const { entry, record } = instance
  const serviceKey = entry.service.key
  return commandOn(`orphan:${serviceKeyText(serviceKey)} ${addressText(record.address)}`, (view, now) => {
    if (!isMember() || view.instance(serviceKey, record.address)?.record !== record) return unchanged(false)
    const members = new Map(view.records(MEMBER))
    if (!members.has(self)) return unchanged(false)
    const processes = new Set(Array.from(members.values(), ({ process }) => process))
    const leaves = (publisher: Publisher): boolean =>
      liveness.processes.isDue(publisher, now.healthMs) &&
      !processes.has(connectionOf(publisher)?.process ?? '')
    const changes = orphansLeave(view, instance, { leaves, stamp: now.stamp })
    return changes.length === 0 ? unchanged(false) : synced(changes, true)
  })
}

/** Knows which orphans have been kept for long enough. */
interface OrphanJudge {
  readonly liveness: { readonly processes: Pick<ConnectionProcesses, 'isDue'> }
}
