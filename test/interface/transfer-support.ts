import { expect } from 'vitest'
import { archiveFiles } from '../../src/archive/config-archive.ts'
import type { ItemMetadata } from '../../src/archive/config-metadata.ts'
import { openZip } from '../../src/archive/zip-reader.ts'
import { zipChunks, type ZipFile } from '../../src/archive/zip-writer.ts'
import { type Examined, type Json, type Params, type Reply, unique } from './client.ts'

export const configs = '/cs/configs'
const LIMITS = { maxEntries: 1e6, maxEntryBytes: 1e9, maxTotalBytes: 1e9 }

/** The building blocks of exports, imports and clones, on the server of a file. */
export function transferOn(waypost: Examined) {
  async function newNamespace(): Promise<string> {
    const id = unique('ns')
    const form = { customNamespaceId: id, namespaceName: id, namespaceDesc: '' }
    expect((await waypost.nacos.post('/console/namespaces', form)).text).toBe('true')
    return id
  }

  async function publish(tenant: string, dataId: string, more: Params = {}): Promise<void> {
    const form = { tenant, dataId, group: 'G', content: `content of ${dataId}`, ...more }
    expect((await waypost.nacos.post(configs, form)).text).toBe('true')
  }

  async function contentOf(tenant: string, dataId: string, group = 'G'): Promise<string | undefined> {
    const reply = await waypost.nacos.get(configs, { tenant, dataId, group })
    return reply.status === 200 ? reply.text : undefined
  }

  const exported = (query: Params): Promise<Reply> =>
    waypost.nacos.get(configs, { exportV2: true, ids: '', ...query })

  function upload(
    zip: Buffer | undefined,
    query: Params,
    fields: Record<string, string> = {},
  ): Promise<Reply> {
    const part = (head: string, content: Buffer | string): Buffer[] => [
      Buffer.from(`--boundary\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(content as string),
      Buffer.from('\r\n'),
    ]
    const body = Buffer.concat([
      ...Object.entries(fields).flatMap(([name, value]) => part(`name="${name}"`, value)),
      ...(zip === undefined ? [] : part('name="file"; filename="../../x.zip"', zip)),
      Buffer.from('--boundary--\r\n'),
    ])
    const headers = { 'content-type': 'multipart/form-data; boundary=boundary' }
    return waypost.nacos.call('POST', configs, { query: { import: true, ...query }, body, headers })
  }

  async function imported(zip: Buffer, query: Params): Promise<Json> {
    const reply = await upload(zip, query)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json;charset=UTF-8')
    return reply.json()
  }

  return { newNamespace, publish, contentOf, exported, upload, imported }
}

/** The files of a zip, by their names. */
export async function filesIn(zip: Buffer): Promise<Record<string, string>> {
  const files = (await openZip(zip, LIMITS)).map(async (one) => [
    one.name,
    (await one.read()).toString('utf8'),
  ])
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>
}

async function zipOf(files: Iterable<ZipFile>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipChunks(files)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A zip of these files. */
export const raw = (files: Record<string, string | Buffer>): Promise<Buffer> =>
  zipOf(
    Object.entries(files).map(([name, content]) => ({
      name,
      content: Buffer.from(content as string),
      modifiedMs: 0,
    })),
  )

/** An archive of items as the server exports them. */
export const items = (
  list: readonly (ItemMetadata & { content?: string })[],
  version: 1 | 2 = 2,
): Promise<Buffer> =>
  zipOf(
    archiveFiles(
      list.map(({ content, ...metadata }) => ({
        metadata,
        content: Buffer.from(content ?? `new ${metadata.dataId}`),
        modifiedMs: 0,
      })),
      version,
    ),
  )

/** The entry of an archive for an item in group G. */
export const G = (dataId: string): ItemMetadata => ({ group: 'G', dataId, type: 'text' })
