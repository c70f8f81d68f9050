/** The console of `waypost dev`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { freePort, MAIN, temporaryDirectory } from '../support/waypost.ts'
import { browserTool } from './chromium.ts'
import { browserForThisFile } from './console-of-file.ts'

describe.skipIf(browserTool.skip)('a server for trying', { timeout: 120_000 }, () => {
  const pages = browserForThisFile()

  test('has a sample that lives while the page is open, and leaves nothing behind', async () => {
    const port = await freePort()
    const temporary = temporaryDirectory('dev-')
    mkdirSync(join(temporary, 'tmp'))
    const env = { PATH: process.env['PATH'], TMPDIR: join(temporary, 'tmp') }
    const child = spawn(process.execPath, [MAIN, 'dev', '--port', String(port)], { cwd: temporary, env })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    await expect.poll(() => printed).toContain('try')
    expect(printed).toMatch(/^┌─+┐\n│ {2}Waypost .*, for trying +│\n/)
    const url = `http://127.0.0.1:${port}`
    const client = new Client(`${url}/svc/v1`)
    const visit = await pages.open(url)
    await visit.at('#/home')
    await visit.button('Fill it with a sample').click()
    await visit.button('Remove the sample').waitFor()
    expect(await visit.wrong()).toEqual([])
    const limits = () =>
      client.get('/cs/configs', { tenant: 'sample', dataId: 'limits.properties', group: 'DEFAULT_GROUP' })
    const first = (await limits()).text
    await visit.at('#/services?ns=sample')
    await visit.link('payments').waitFor()
    await expect.poll(async () => (await limits()).text).not.toBe(first)
    const orders = { namespaceId: 'sample', serviceName: 'orders' }
    const list: { hosts: object[] } = (await client.get('/ns/instance/list', orders)).json()
    expect(list.hosts).toMatchObject([{ healthy: true }, { healthy: true }])
    await visit.at('#/home')
    await visit.button('Remove the sample').click()
    await visit.button('Fill it with a sample').waitFor()
    const overview = (await client.get('/console/overview', { namespaceId: '*' })).json()
    expect(overview).toMatchObject({ temporary: true, configCount: 0, serviceCount: 0, attention: [] })
    client.close()
    await visit.close()
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect(readdirSync(join(temporary, 'tmp'))).toEqual([])
    expect(existsSync(join(temporary, 'data'))).toBe(false)
  })
})
