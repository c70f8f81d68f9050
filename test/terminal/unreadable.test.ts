/** Texts that readers of their format refuse: no command publishes them without being asked to. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()
const directory = temporaryDirectory('unreadable-')
const BAD = 'server:\n  port: 8080\n   timeout: 60s\n'
const file = join(directory, 'bad.yaml')
writeFileSync(file, BAD)
const editor = join(directory, 'editor')
writeFileSync(editor, `#!/bin/sh\ncat '${file}' > "$1"\n`)
chmodSync(editor, 0o755)

const GROUP = 'DEFAULT_GROUP'
const textOf = async (dataId: string): Promise<string> =>
  (await here.svc.get('/cs/configs', { dataId, group: GROUP })).text
const tenantOf = (dataId: string): string => {
  const folder = join(directory, dataId)
  mkdirSync(folder)
  writeFileSync(join(folder, dataId), BAD)
  return folder
}

/** The words of each command that publishes, for an item. */
const PUBLISHING: Readonly<Record<string, (dataId: string) => readonly string[]>> = {
  put: (dataId) => ['put', dataId, file],
  'put --type yaml': (dataId) => ['put', dataId, file, '--type', 'yaml'],
  edit: (dataId) => ['edit', dataId, '--yes'],
  apply: (dataId) => ['apply', '-f', tenantOf(dataId), '--set', unique('set')],
  'gray publish': (dataId) => ['gray', 'publish', dataId, file, '--tag', 'blue'],
}

test.each(Object.keys(PUBLISHING))(
  'config %s changes nothing without --force',
  async (name) => {
    const dataId = `${unique('item')}.yaml`
    await here.svc.post('/cs/configs', { dataId, group: GROUP, content: 'a: 1\n' })
    const words = ['config', ...PUBLISHING[name]!(dataId)]
    const { code, err, out } = await here.terminal.run(words, '', { EDITOR: editor })
    expect([code, out + err]).toEqual([
      2,
      expect.stringMatching(
        /\.yaml is no valid YAML: line 2, column \d+: .*\nNothing was changed\. --force/s,
      ),
    ])
    expect(await textOf(dataId)).toBe('a: 1\n')
    expect((await here.svc.get('/cs/configs/gray', { dataId, group: GROUP })).json()).toEqual([])
    const forced = await here.terminal.run([...words, '--force'], '', { EDITOR: editor })
    expect([forced.code, forced.err]).toEqual([0, ''])
  },
  60_000,
)

test('a key of JSON that occurs twice is a warning', async () => {
  const dataId = `${unique('item')}.json`
  const put = await here.terminal.run(['config', 'put', dataId, '-'], '{"a": 1, "a": 2}')
  const err = `${GROUP}/${dataId}: The key “a” occurs twice: the last one counts.\n`
  expect(put).toMatchObject({ code: 0, err })
})

test('a text that the server has already passes, and so does one of the type text', async () => {
  const dataId = `${unique('item')}.yaml`
  await here.terminal.ok('config', 'put', dataId, file, '--type', 'text')
  await here.terminal.ok('config', 'put', dataId, file)
  await here.terminal.ok('config', 'put', dataId, file, '--type', 'yaml')
}, 60_000)
