import { request } from 'node:http'
import { captureGrpc } from './capture-grpc.ts'
import type { FloorSetup, ReadyAnswer } from './floor.ts'
import { requestPaths } from './paths.ts'

/** The headers that Node adds to an answer. */
const ADDED = new Set(['date', 'connection', 'keep-alive'])

interface Captured extends ReadyAnswer {
  readonly keepAliveSeconds: number
}

/** Sends a request and returns the answer, with the headers as the server spells them. */
async function capture(url: string, method = 'GET', form?: string): Promise<Captured> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { connection: 'keep-alive', 'long-pulling-timeout': '30000' }
    if (form !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded'
    const asked = request(url, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        const kept: string[] = []
        for (let at = 0; at < answer.rawHeaders.length; at += 2) {
          const name = answer.rawHeaders[at]!
          if (!ADDED.has(name.toLowerCase())) kept.push(name, answer.rawHeaders[at + 1]!)
        }
        const keepAliveSeconds = Number(/timeout=(\d+)/.exec(String(answer.headers['keep-alive']))?.[1] ?? 5)
        const body = Buffer.concat(chunks).toString('base64')
        resolve({ status: answer.statusCode ?? 0, headers: kept, body, keepAliveSeconds })
      })
    })
    asked.on('error', reject)
    asked.end(form)
  })
}

/** The answers of the floor: the same bytes as those of the server at `base`, which has one service and one item. */
export async function captureFloor(
  base: string,
  known: { service: string; dataId: string },
): Promise<FloorSetup> {
  const paths = requestPaths(base)
  const pathOf = (url: string): string => new URL(url).pathname
  const list = await capture(`${paths.list}?serviceName=${known.service}`)
  const read = await capture(`${paths.configs}?dataId=${known.dataId}&group=DEFAULT_GROUP`)
  const publish = await capture(paths.configs, 'POST', 'dataId=floor&group=DEFAULT_GROUP&content=x')
  const register = await capture(paths.instance, 'POST', 'serviceName=floor&ip=127.0.0.2&port=1')
  const beat = await capture(`${paths.beat}?serviceName=floor&ip=127.0.0.2&port=1`, 'PUT')
  // A poll that differs is answered at once, with the same bytes as a held one.
  const poll = await capture(
    paths.listener,
    'POST',
    `Listening-Configs=${known.dataId}%02DEFAULT_GROUP%02x%01`,
  )
  return {
    keepAliveTimeoutMs: list.keepAliveSeconds * 1_000,
    pollPath: pathOf(paths.listener),
    wakes: `POST ${pathOf(paths.configs)}`,
    grpc: await captureGrpc(base),
    answers: {
      [`GET ${pathOf(paths.list)}`]: list,
      [`GET ${pathOf(paths.configs)}`]: read,
      [`POST ${pathOf(paths.configs)}`]: publish,
      [`POST ${pathOf(paths.instance)}`]: register,
      [`PUT ${pathOf(paths.beat)}`]: beat,
      [`POST ${pathOf(paths.listener)}`]: poll,
    },
  }
}
