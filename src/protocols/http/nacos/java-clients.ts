import { agentOf } from '../endpoints/config/http-viewer.ts'
import type { ListFormatOf } from '../endpoints/naming/list-endpoint.ts'
import type { HttpCaller } from '../routing/route.ts'

const JAVA = 'Nacos-Java-Client:v'

/**
 * Whether a client is, or calls itself, the Java client of version 1.0.0 or later. 1.4 answers it differently in a few
 * places. The npm client calls itself version 1.0.0.
 */
export function isJavaClient(caller: HttpCaller): boolean {
  const agent = agentOf(caller)
  if (!agent.startsWith(JAVA)) return false
  const major = agent.charCodeAt(JAVA.length)
  return major >= 0x31 && major <= 0x39
}

/** Java clients from 1.0.0 on read grouped names from a list, all others bare ones (http-compat.md section 1). */
export const nacosListFormat: ListFormatOf = (caller) =>
  isJavaClient(caller) ? 'nacos-grouped' : 'nacos-bare'
