import type { Refusal, RefusalFacts } from '../../../core/refusal.ts'
import { javaParamCheck } from '../../parameters/java-param-check.ts'

/** The part of `/nacos` that a message is for: some texts differ between them. */
export type NacosPart = 'config' | 'naming'

/**
 * The text that clients and operators of the reference server know for a refusal, or the refusal's own
 * sentence where there is none (http-compat.md sections 0, 1 and 4).
 */
export function nacosMessage(refusal: Refusal, part: NacosPart): string {
  const { message, facts } = refusal
  const { serviceName, cluster, username, role } = facts.names ?? {}
  switch (refusal.code) {
    case 'invalid-parameter':
      return (part === 'config' ? invalidConfig(facts) : invalidNaming(facts)) ?? message
    case 'service-not-found':
      return serviceName === undefined ? message : `service ${serviceName} not found!`
    case 'service-exists':
      return serviceName === undefined ? message : `specified service ${serviceName} already exists!`
    case 'service-not-empty':
      return serviceName === undefined
        ? message
        : `Service ${serviceName} is not empty, can't be delete. Please unregister instance first`
    case 'checker-not-none':
      return serviceName === undefined
        ? message
        : `health check is still working, service: ${serviceName}${cluster === undefined ? '' : `, cluster: ${cluster}`}`
    case 'cluster-not-found':
      return cluster === undefined ? message : `cluster ${cluster} is not found!`
    case 'user-exists':
      return username === undefined ? message : `user '${username}' already exist!`
    case 'user-not-found':
      return username === undefined ? message : `user ${username} not exist!`
    case 'last-administrator':
      return username === undefined ? message : `cannot delete admin: ${username}`
    case 'role-not-found':
      return role === undefined ? message : `role ${role} not found!`
    case 'server-status':
      return `server is ${facts.names?.['status'] ?? 'DOWN'}now, please try again later!`
    default:
      return message
  }
}

function invalidConfig({ parameter, names }: RefusalFacts): string | undefined {
  const value = names?.['value']
  switch (parameter) {
    case 'dataId':
    case 'group':
    case 'tag':
      return value === undefined ? undefined : `invalid ${parameter} : ${printable(value)}`
    case 'tenant':
      return 'invalid tenant'
    case 'content':
      return names?.['size'] === undefined ? 'content is blank : ' : 'invalid content, over 10485760'
    case 'pageNo':
    case 'pageSize':
      return 'pageNo and pageSize must be greater than zero'
    default:
      return undefined
  }
}

function invalidNaming(facts: RefusalFacts): string | undefined {
  const { parameter, names } = facts
  if (parameter === 'clusterName' || parameter === 'beat.cluster') return `${javaParamCheck(facts)}\r\n`
  if (names?.['value'] === undefined) return undefined
  const value = printable(names['value'])
  switch (parameter) {
    case 'weight':
      return `instance format invalid: The weights range from 0.0 to 10000.0, current: ${value}`
    case 'metadata':
      return `metadata format incorrect:${value}`
    default:
      return undefined
  }
}

/** A client's value on one line of text. */
function printable(value: string): string {
  return value.slice(0, 64).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
}
