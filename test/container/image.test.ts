/** `npm run image`: what is in the image, and that it starts as another user than its own, with a root that is read-only. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, temporaryDirectory } from '../support/waypost.ts'
import { PASSWORD, runTerminalPage } from '../packaging/first-day.ts'
import { packed } from '../packaging/packed.ts'
import { needRootAndTool } from '../support/need-tool.ts'
import { isNightly } from '../support/nightly.ts'
import { Container, OciImage } from './oci-image.ts'

const MOST_BYTES = 130e6
/** Not the user of the image. */
const UID = 4_242
const LIMIT_MS = 600_000

/** The commands of docs/terminal.md in a container without a terminal. */
async function followTerminalPage(container: Container, url: string): Promise<void> {
  const administrator = `export HOME=/var/lib/waypost; cd
printf '%s\\n%s\\n' '${PASSWORD}' '${PASSWORD}' |
  WAYPOST_PASSWORD='${PASSWORD}' waypost user add ann --admin --server ${url} --username nacos > /dev/null || exit
exec 2>&1`
  await runTerminalPage({ url, run: (script) => container.run(`${administrator}\n${script}`) })
}

interface Bill {
  readonly components: readonly { readonly name: string; readonly purl: string; readonly version: string }[]
}

const SYSTEMS = [
  { arch: 'x64', debian: 'amd64', emulator: undefined },
  { arch: 'arm64', debian: 'arm64', emulator: process.arch === 'arm64' ? undefined : 'qemu-aarch64-static' },
].filter(({ arch }) => arch === 'arm64' || process.arch === 'x64')
/** At night the image for the other processor too, in an emulator. */
const TESTED = SYSTEMS.filter(({ emulator }) => isNightly || emulator === undefined)

describe.each(TESTED)('the image for $arch', ({ arch, debian, emulator }) => {
  const tools = needRootAndTool('mmdebstrap', 'umoci', 'runc', ...(emulator === undefined ? [] : [emulator]))
  const directory = temporaryDirectory('image-')
  const bundle = join(directory, 'bundle')
  const inRoot = (path: string): string => join(bundle, 'rootfs', path)
  let image: OciImage
  let container: Container | undefined

  beforeAll(async () => {
    if (tools.skip) return
    image = new OciImage(await packed('image', { arch, out: directory }), directory)
    await image.unpack(bundle)
  }, LIMIT_MS)
  afterAll(() => container?.remove())

  test('is small', ({ skip }) => {
    skip(tools.skip, tools.reason)
    expect(image.layers.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MOST_BYTES)
  })

  test('says how it is run: as a plain user, with a health check, ports, a volume and labels', ({ skip }) => {
    skip(tools.skip, tools.reason)
    expect(image.config.architecture).toBe(debian)
    expect(image.config.config).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['waypost'],
      Cmd: ['start'],
      StopSignal: 'SIGTERM',
      Volumes: { '/var/lib/waypost': {} },
      ExposedPorts: { '8848/tcp': {}, '9848/tcp': {} },
      Healthcheck: { Test: ['CMD', 'waypost', 'health'] },
      Labels: {
        'org.opencontainers.image.title': 'Waypost',
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      },
    })
    expect(image.config.config.Env.join(' ')).not.toMatch(/token|secret|password|key/i)
    expect(image.dockerManifest[0]!.RepoTags[0]).toMatch(/^waypost:\d/)
    for (const path of image.dockerManifest[0]!.Layers) expect(path).toMatch(/^blobs\/sha256\//)
  })

  test('holds the program for this processor, licences, and nothing of the machine that built it', ({
    skip,
  }) => {
    skip(tools.skip, tools.reason)
    expect(readdirSync(inRoot('app/node_modules/@libsql'))).toEqual([`linux-${arch}-gnu`])
    for (const path of ['app/LICENSE', 'app/dist/LICENSES.txt', 'usr/local/share/doc/node/LICENSE'])
      expect(existsSync(inRoot(path)), path).toBe(true)
    expect(existsSync(inRoot('usr/share/doc/libc6/copyright'))).toBe(true)
    for (const path of ['etc/hostname', 'etc/resolv.conf', 'app/.npmrc', 'app/package-lock.json'])
      expect(existsSync(inRoot(path)), path).toBe(false)
    expect(readdirSync(inRoot('dev'))).toEqual([])
  })

  test('lists what it is made of: packages of npm, Node.js, and packages of Debian', ({ skip }) => {
    skip(tools.skip, tools.reason)
    const { components } = JSON.parse(readFileSync(inRoot('app/sbom.json'), 'utf8')) as Bill
    const natives = components.filter(({ name }) => name.startsWith('@libsql/')).map(({ name }) => name)
    expect(natives).toEqual([`@libsql/linux-${arch}-gnu`])
    const names = components.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['libsql', 'commander', 'node', 'libc6', 'libstdc++6', 'busybox']),
    )
    const status = readFileSync(inRoot('var/lib/dpkg/status'), 'utf8')
    const installed = [...status.matchAll(/^Package: (.*)$/gm)].map(([, name]) => name!)
    const listed = components.filter(({ purl }) => purl.startsWith('pkg:deb/')).map(({ name }) => name)
    expect(listed.toSorted()).toEqual(installed.toSorted())
  })

  test(
    'starts as any user with a root that is read-only, is healthy, publishes, and stops',
    async ({ skip }) => {
      skip(tools.skip, tools.reason)
      const name = `waypost-test-${process.pid}-${arch}`
      const file =
        emulator === undefined ? undefined : execFileSync('which', [emulator], { encoding: 'utf8' }).trim()
      container = new Container({ bundle, name, port: await freePort(), uid: UID, emulator: file })
      const server = await container.start()
      expect(container.execute(...image.config.config.Healthcheck.Test.slice(1))).toBe(
        `${server.url} answers\n`,
      )
      expect(container.execute('/usr/bin/busybox', 'id', '-u')).toBe(`${UID}\n`)
      expect(() => container!.execute('/usr/bin/busybox', 'touch', '/app/new')).toThrow(/Read-only/)
      expect(await server.firstUse()).toBe('world')
      // An emulated shell does not find the program.
      if (isNightly && emulator === undefined) await followTerminalPage(container, server.url)
      expect(await server.stop()).toBe(0)
      expect(existsSync(join(bundle, 'data/waypost.db'))).toBe(true)
    },
    LIMIT_MS,
  )
})
