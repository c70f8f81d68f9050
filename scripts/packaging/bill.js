/** The software bill of materials of what is packed (CycloneDX). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.js'
import { ARCHITECTURES, execute, releaseTime } from './packing.js'

/**
 * The text of the bill: what `npm run sbom` finds, without the native parts for other platforms, and `parts` besides. The same
 * contents give the same text.
 */
export function billOf({ arch, parts }, directory) {
  const file = join(directory, 'sbom.json')
  execute(process.execPath, [join(root, 'scripts', 'sbom.js'), file])
  const bill = JSON.parse(readFileSync(file, 'utf8'))
  const isElsewhere = (name) => name.startsWith('@libsql/') && !name.startsWith(`@libsql/linux-${arch}-gnu`)
  const components = bill.components.filter(({ name }) => !isElsewhere(name))
  const refs = new Set([...components, bill.metadata.component].map((one) => one['bom-ref']))
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter((ref) => refs.has(ref)) }))
  // The serial number is a random one, which CycloneDX does not ask for.
  const { serialNumber: _, ...rest } = bill
  const metadata = { ...bill.metadata, timestamp: new Date(releaseTime() * 1000).toISOString() }
  return { ...rest, metadata, components: [...components, ...parts], dependencies }
}

/** The component of Node.js. */
export function nodeComponent(version) {
  const purl = `pkg:generic/nodejs@${version}`
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:lts:*:*:*`
  return { 'bom-ref': purl, type: 'application', name: 'node', version, purl, cpe }
}

/** The component of a Debian package. */
export function debianComponent({ name, version, arch, release }) {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${ARCHITECTURES[arch]}&distro=debian-${release}`
  return { 'bom-ref': purl, type: 'library', name, version, purl }
}
