import type { Switches } from '../../core/switches/switches.ts'

/** The switches that say from which version on a client library is pushed to. */
export type PushVersions = Pick<
  Switches,
  'pushJavaVersion' | 'pushGoVersion' | 'pushPythonVersion' | 'pushCVersion' | 'pushCSharpVersion'
>

/** The libraries that listen for pushes, by how they name themselves (http-compat.md section 5), and their switch. */
const AGENTS: readonly (readonly [prefix: string, version: keyof PushVersions])[] = [
  ['Nacos-Java-Client', 'pushJavaVersion'],
  ['Nacos-Go-Client', 'pushGoVersion'],
  // The DNS plugin has no switch of its own; it is a Go program.
  ['Nacos-DNS', 'pushGoVersion'],
  ['Nacos-C-Client', 'pushCVersion'],
  ['vip-client4cpp', 'pushCVersion'],
  ['Nacos-CSharp-Client', 'pushCSharpVersion'],
]

/** No library has a longer name. */
const LONGEST_AGENT = 256

/**
 * Whether a client understands pushes: it names itself `<library>:v<X.Y.Z>`, with a library that listens and a version
 * that the switches accept.
 */
export function acceptsPush(agent: string, switches: PushVersions): boolean {
  // It is kept for as long as the subscription lasts.
  if (agent.length > LONGEST_AGENT) return false
  const known = AGENTS.find(([prefix]) => agent.startsWith(prefix))
  if (known === undefined) return false
  const version = versionOf(/:v(\d+(?:\.\d+)*)/.exec(agent)?.[1])
  const needed = versionOf(switches[known[1]])
  return version !== undefined && needed !== undefined && isAtLeast(version, needed)
}

function versionOf(text: string | undefined): number[] | undefined {
  const digits = /^\d+(?:\.\d+)*/.exec(text ?? '')?.[0]
  return digits?.split('.').map(Number)
}

function isAtLeast(version: readonly number[], needed: readonly number[]): boolean {
  for (let part = 0; part < Math.max(version.length, needed.length); part++) {
    const difference = (version[part] ?? 0) - (needed[part] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
