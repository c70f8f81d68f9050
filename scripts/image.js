/**
 * `npm run image [-- --arch x64|arm64 --out DIR]`: builds the container image without a Docker engine, and prints the file that it
 * made and the digest of the image. `docker load`, `podman load` and `skopeo copy oci-archive:` read the file.
 *
 * Inside: Debian's C++ library and a shell, Node.js, and `/app`. The server runs as the user 10001, or any other; it writes to
 * `/var/lib/waypost` only. Ports: 8848 and 9848. Settings are environment variables.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildLayers } from './packaging/image-layers.js'
import { writeImage } from './packaging/oci-image.js'
import { about, inWorkDirectory, needPrograms, readFlags, runScript } from './packaging/packing.js'

await runScript(async () => {
  const { arch, out } = readFlags()
  needPrograms({ mmdebstrap: 'mmdebstrap', umoci: 'umoci', tar: 'tar', 'dpkg-deb': 'dpkg' })
  const file = join(out, `waypost-${about.version}-image-linux-${arch}.tar`)
  mkdirSync(out, { recursive: true })
  const digest = await inWorkDirectory(async (directory) =>
    writeImage({ arch, file, directory, layers: await buildLayers(directory, arch) }),
  )
  console.log(`${file}\n${digest}`)
})
