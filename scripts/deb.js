/**
 * `npm run deb [-- --arch x64|arm64 --out DIR]`: builds the Debian package with dpkg-deb, and prints its path. `--fast` compresses
 * little, for tests.
 *
 * The package has /usr/bin/waypost, its Node.js in /usr/lib/waypost, the service `waypost`, which runs as the user `waypost`, its
 * settings in /etc/waypost/waypost.conf, and its data in /var/lib/waypost.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { layOutDebian } from './packaging/debian-package.js'
import {
  about,
  ARCHITECTURES,
  execute,
  inWorkDirectory,
  needPrograms,
  readFlags,
  releaseTime,
  runScript,
} from './packaging/packing.js'

await runScript(async () => {
  const { arch, out, fast } = readFlags()
  needPrograms({ 'dpkg-deb': 'dpkg', md5sum: 'coreutils' })
  mkdirSync(out, { recursive: true })
  // For Debian, 1.0.0-rc.1 would be newer than 1.0.0.
  const version = about.version.replace('-', '~')
  const file = join(out, `waypost_${version}_${ARCHITECTURES[arch]}.deb`)
  await inWorkDirectory(async (directory) => {
    const tree = join(directory, 'waypost')
    await layOutDebian(tree, { arch, version })
    const options = ['--root-owner-group', '-Zxz', fast ? '-z0' : '-z6', '--threads-max=2']
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(releaseTime()) }
    execute('dpkg-deb', [...options, '--build', tree, file], { env })
  })
  console.log(file)
})
