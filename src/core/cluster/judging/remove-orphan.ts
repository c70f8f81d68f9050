import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { connectionOf } from '../../naming/state/connection-publisher.ts'
import { addressText } from '../../naming/state/instance.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import { orphanRemoved } from '../../naming/liveness/connection-processes.ts'
import { serviceKeyText } from '../../naming/state/service.ts'
import type { VotingMember } from './confirm-silence.ts'
import { MEMBER } from '../members/member-records.ts'

/**
 * Removes an instance whose server is gone. It answers false, and changes nothing, if the instance has been taken over
 * or changed, or if its process is a member again. The store compares the instance, all members (so that nobody has
 * joined) and this server's own record, as `confirmSilence` does.
 */
export function removeOrphan(
  instance: Instance,
  { self, isMember }: Omit<VotingMember, 'liveness'>,
): Command<boolean> {
  const { entry, record } = instance
  const serviceKey = entry.service.key
  const owner = connectionOf(record.publisher)
  return {
    subject: `orphan:${serviceKeyText(serviceKey)} ${addressText(record.address)}`,
    decide(view, now) {
      if (!isMember() || view.instance(serviceKey, record.address)?.record !== record) return unchanged(false)
      const members = new Map(view.records(MEMBER))
      const isBack = [...members.values()].some(({ process }) => process === owner?.process)
      if (isBack || !members.has(self)) return unchanged(false)
      return synced([orphanRemoved(instance, now)], true)
    },
  }
}
