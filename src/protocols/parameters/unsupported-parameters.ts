import { Refusal } from '../../core/refusal.ts'

/**
 * Refuses a request that uses one of these. To do half of the request in silence would be wrong, such as
 * giving everybody a content that is for a few testers. `used` says of each name whether the request uses it.
 */
export function refuseUnsupported(used: Readonly<Record<string, boolean>>): void {
  for (const [parameter, isUsed] of Object.entries(used)) {
    if (!isUsed) continue
    const allowed = 'left out: this server has no beta or tagged contents'
    throw new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
  }
}
