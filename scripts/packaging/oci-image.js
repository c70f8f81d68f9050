/** Writes an image in the layout of OCI, by umoci. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { about, ARCHITECTURES, execute, packTar, PLACES, releaseTime, revision } from './packing.js'

/** Where Docker and others read how to see that a container is healthy; OCI has no such field. Times in ns. */
const HEALTHCHECK = {
  Test: ['CMD', 'waypost', 'health'],
  Interval: 10e9,
  Timeout: 5e9,
  StartPeriod: 30e9,
  Retries: 3,
}

/** A container is reached from outside, so its callers sign in: docs/operations.md, the administrator's first hour. */
const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  NODE_ENV: 'production',
  WAYPOST_HOST: '0.0.0.0',
  WAYPOST_AUTH: 'on',
  WAYPOST_PORT: '8848',
  WAYPOST_DATA_DIR: PLACES.dataDir,
}

/** Writes the image of these layers as one file; `directory` is for work. Returns the digest of the image. */
export function writeImage({ arch, file, directory, layers }) {
  const layout = join(directory, 'image')
  const image = `${layout}:${about.version}`
  const created = new Date(releaseTime() * 1000).toISOString().replace('.000Z', 'Z')
  execute('umoci', ['init', '--layout', layout])
  execute('umoci', ['new', '--image', image])
  for (const { file: layer, madeBy } of layers) {
    const history = ['--history.created', created, '--history.created_by', madeBy]
    execute('umoci', ['raw', 'add-layer', '--image', image, ...history, layer])
    rmSync(layer)
  }
  execute('umoci', ['config', '--image', image, '--no-history', ...configFlags(arch, created)])
  execute('umoci', ['gc', '--layout', layout])
  const manifest = addHealthcheck(layout)
  writeDockerManifest(layout, manifest)
  packTar(file, layout)
  return manifest.digest
}

function configFlags(arch, created) {
  const repeated = (flag, values) => values.flatMap((value) => [flag, value])
  const fields = (map) => Object.entries(map).map(([name, value]) => `${name}=${value}`)
  return [
    ['--created', created, '--os', 'linux', '--architecture', ARCHITECTURES[arch]],
    ['--config.user', `${PLACES.uid}:${PLACES.uid}`, '--config.workingdir', PLACES.dataDir],
    ['--config.entrypoint', 'waypost', '--config.cmd', 'start', '--config.stopsignal', 'SIGTERM'],
    ['--config.volume', PLACES.dataDir],
    repeated('--config.exposedports', ['8848/tcp', '9848/tcp']),
    repeated('--config.env', fields(ENVIRONMENT)),
    repeated('--config.label', fields(labelsOf(created))),
  ].flat()
}

function labelsOf(created) {
  const commit = revision()
  return {
    'org.opencontainers.image.title': 'Waypost',
    'org.opencontainers.image.description': about.description,
    'org.opencontainers.image.version': about.version,
    'org.opencontainers.image.licenses': about.license,
    'org.opencontainers.image.created': created,
    ...(commit === undefined ? {} : { 'org.opencontainers.image.revision': commit }),
  }
}

/** umoci cannot write this field, so its blobs are written again. Returns the manifest with its digest. */
function addHealthcheck(layout) {
  const index = readJson(join(layout, 'index.json'))
  const [entry] = index.manifests
  index.mediaType = 'application/vnd.oci.image.index.v1+json'
  const manifest = { ...readJson(blobFile(layout, entry.digest)), mediaType: entry.mediaType }
  const config = readJson(blobFile(layout, manifest.config.digest))
  for (const { digest } of [entry, manifest.config]) rmSync(blobFile(layout, digest))
  config.config.Healthcheck = HEALTHCHECK
  Object.assign(manifest.config, writeBlob(layout, config))
  Object.assign(entry, writeBlob(layout, manifest))
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index))
  return { ...manifest, digest: entry.digest }
}

/** `docker load` of an engine without containerd finds the image, and its name, by this file only. */
function writeDockerManifest(layout, { config, layers }) {
  const pathOf = ({ digest }) => `blobs/${digest.replace(':', '/')}`
  const image = { Config: pathOf(config), RepoTags: [`waypost:${about.version}`], Layers: layers.map(pathOf) }
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify([image]))
}

function writeBlob(layout, content) {
  const text = JSON.stringify(content)
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  writeFileSync(blobFile(layout, digest), text)
  return { digest, size: Buffer.byteLength(text) }
}

function blobFile(layout, digest) {
  return join(layout, 'blobs', ...digest.split(':'))
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
