import { expect } from 'vitest'

/** Publishes an item of the default group. */
export async function publishAt(url: string, dataId: string, content: string): Promise<void> {
  const body = new URLSearchParams({ dataId, group: 'DEFAULT_GROUP', content })
  expect((await fetch(`${url}/nacos/v1/cs/configs`, { method: 'POST', body })).status).toBe(200)
}

/** The content of an item of the default group. Where there is none, what the server says about that. */
export async function contentAt(url: string, dataId: string): Promise<string> {
  const response = await fetch(`${url}/nacos/v1/cs/configs?dataId=${dataId}&group=DEFAULT_GROUP`)
  return response.text()
}

/** An instance on the loopback address. */
export interface PlainInstance {
  readonly service: string
  readonly port: number
  readonly isEphemeral: boolean
}

/** Registers an instance, and sends no beats for it. */
export async function registerAt(url: string, instance: PlainInstance): Promise<void> {
  const { service: serviceName, port, isEphemeral } = instance
  const fields = { serviceName, ip: '127.0.0.1', port: String(port), ephemeral: String(isEphemeral) }
  const body = new URLSearchParams(fields)
  expect((await fetch(`${url}/nacos/v1/ns/instance`, { method: 'POST', body })).status).toBe(200)
}

/** The ports of the instances that a server lists, in order. */
export async function portsAt(url: string, serviceName: string): Promise<number[]> {
  const response = await fetch(`${url}/nacos/v1/ns/instance/list?serviceName=${serviceName}`)
  const { hosts } = (await response.json()) as { hosts?: { port: number }[] }
  return (hosts ?? []).map(({ port }) => port).sort((one, other) => one - other)
}
