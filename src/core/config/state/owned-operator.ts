import { ownText, ownTextOrNull } from '../../text/own-text.ts'
import type { Operator } from './config-item.ts'

/** A copy: a text cut out of a request would keep the whole request in memory. */
export function ownedOperator({ ip, user }: Operator): Operator {
  return { ip: ownText(ip), user: ownTextOrNull(user) }
}
