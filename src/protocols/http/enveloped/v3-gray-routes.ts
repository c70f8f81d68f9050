import { configKey, type ConfigKey } from '../../../core/config/state/config-item.ts'
import { BETA_NAME } from '../../../core/config/state/gray-rule.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace-id.ts'
import { Refusal } from '../../../core/refusal.ts'
import { MAX_PAGE_BYTES } from '../../../operations/config/configs.ts'
import { publishForAllOrSome, removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { casOfClients } from '../../parameters/cas-of-clients.ts'
import * as fields from '../../parameters/fields.ts'
import { grayOfClients } from '../../parameters/gray-of-clients.ts'
import { GRAY_RELEASE_PARAMS, grayName, toGrayRelease } from '../../parameters/gray-params.ts'
import {
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../parameters/publish-params.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { casMd5Of } from '../endpoints/config/cas-md5.ts'
import { grayInfoJson } from '../endpoints/config/gray-json.ts'
import { headerText } from '../endpoints/config/header-text.ts'
import type { HttpCaller } from '../routing/route.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_PART } from './defaults.ts'
import { failure, NOT_FOUND, success } from './envelope.ts'

const ITEM = { namespaceId: Type.Optional(fields.tenant), dataId: fields.dataId, groupName: fields.group }

type Parts = Pick<Operations, 'configs' | 'gray'>

/**
 * What `/nacos/v3/admin/cs/config` has of gray versions, with the publish and the delete that may be of one
 * (grpc-compat.md section 7). The rest of that path comes later.
 */
export function v3GrayRoutes(parts: Parts, limits: PublishLimits): Route[] {
  const { gray } = parts
  return placeRoutes(CONFIG_PART, '/nacos/v3/admin/cs/config', [
    ['POST', '', publish(parts, limits)],
    ['DELETE', '', remove(parts)],
    ['GET', '/beta', readBeta(gray)],
    ['DELETE', '/beta', stopBeta(gray)],
    ['POST', '/gray', publishGray(gray, limits)],
    ['GET', '/gray', read(gray)],
    ['DELETE', '/gray', stop(gray)],
  ])
}

function publish({ configs, gray }: Parts, limits: PublishLimits) {
  const params = publishFields(limits)
  return endpoint({
    summary: 'Publishes a configuration item; with the header betaIps or a tag it is for some clients only',
    permission: configs.publish.permission,
    params,
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params: said, caller }) => {
      const request = requestOf(said, caller)
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: said.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return success(true)
    },
  })
}

function remove({ configs, gray }: Parts) {
  return endpoint({
    summary: 'Deletes a configuration item, or ends its version for a tag',
    permission: configs.remove.permission,
    params: Type.Object({ ...ITEM, tag: Type.Optional(fields.tag) }),
    handle: async ({ params, caller }) => {
      await removeForAllOrSome({ configs, gray }, { key: keyOf(params), tag: params.tag }, caller)
      return success(true)
    },
  })
}

function readBeta(gray: Operations['gray']) {
  return endpoint({
    summary: 'Reads the version of an item for some addresses; code 20004 where there is none',
    permission: gray.find.permission,
    params: Type.Object(ITEM),
    handle: ({ params, caller }) => {
      const found = gray.find({ key: keyOf(params), name: BETA_NAME }, caller)
      return found === undefined
        ? failure(404, NOT_FOUND, 'Config is not in beta.')
        : success(grayInfoJson(found))
    },
  })
}

function stopBeta(gray: Operations['gray']) {
  return endpoint({
    summary: 'Ends the version of an item for some addresses',
    permission: gray.stop.permission,
    params: Type.Object(ITEM),
    handle: async ({ params, caller }) => {
      await gray.stop({ key: keyOf(params), name: BETA_NAME }, caller)
      return success(true)
    },
  })
}

function publishGray(gray: Operations['gray'], limits: PublishLimits) {
  return endpoint({
    summary: 'Publishes a text for some clients under a name: by labels, a share, addresses or a tag',
    permission: gray.publish.permission,
    params: Type.Object({ ...publishFieldsOf(limits), ...GRAY_RELEASE_PARAMS }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      await gray.publish({ ...requestOf(params, caller), ...toGrayRelease(params) }, caller)
      return success(true)
    },
  })
}

/** Without a name all gray versions of the item: others have that too. */
function read(gray: Operations['gray']) {
  return endpoint({
    summary: 'Reads a gray version of an item, or without grayName all of them',
    permission: gray.find.permission,
    params: Type.Object({ ...ITEM, grayName: Type.Optional(grayName) }),
    handle: ({ params, caller }) => {
      const key = keyOf(params)
      const find = (name: string) => gray.find({ key, name }, caller)
      if (params.grayName === undefined) {
        const versions = gray.of({ key }, caller)
        refuseHeavyVersions(versions)
        return success(versions.flatMap(({ name }) => find(name) ?? []).map(grayInfoJson))
      }
      const found = find(params.grayName)
      return found === undefined
        ? failure(404, NOT_FOUND, `Config has no gray version ${params.grayName}.`)
        : success(grayInfoJson(found))
    },
  })
}

/** Refusal `too-large`: texts that weigh more than those of one page would stop all others while they are written. */
function refuseHeavyVersions(versions: readonly { readonly size: number }[]): void {
  const bytes = versions.reduce((sum, { size }) => sum + size, 0)
  if (bytes <= MAX_PAGE_BYTES) return
  const allowed = `versions whose texts have at most ${MAX_PAGE_BYTES} bytes in all`
  const message = `One answer may have ${allowed}, but these have ${bytes}: name one with grayName.`
  throw new Refusal('too-large', message, { parameter: 'grayName', allowed })
}

function stop(gray: Operations['gray']) {
  return endpoint({
    summary: 'Ends a gray version of an item',
    permission: gray.stop.permission,
    params: Type.Object({ ...ITEM, grayName }),
    handle: async ({ params, caller }) => {
      await gray.stop({ key: keyOf(params), name: params.grayName }, caller)
      return success(true)
    },
  })
}

function publishFieldsOf(limits: PublishLimits) {
  const { content, type } = publishParams(limits)
  const {
    config_tags: configTags,
    src_user: srcUser,
    casMd5: _,
    ...notes
  } = noteParams({ isEmptyAValue: false })
  return { ...ITEM, content, type, ...notes, configTags, srcUser, tag: Type.Optional(fields.tag) }
}

function publishFields(limits: PublishLimits) {
  return Type.Object(publishFieldsOf(limits))
}

function requestOf(params: Static<ReturnType<typeof publishFields>>, caller: HttpCaller) {
  const {
    namespaceId: tenant,
    groupName: group,
    configTags: config_tags,
    srcUser: src_user,
    ...same
  } = params
  const named = Object.entries({ tenant, config_tags, src_user }).filter(([, value]) => value !== undefined)
  return toPublishRequest(
    { ...same, group, ...Object.fromEntries(named) },
    casOfClients(casMd5Of(caller, {})),
  )
}

function keyOf(params: {
  readonly namespaceId?: string
  readonly dataId: string
  readonly groupName: string
}): ConfigKey {
  const { namespaceId, groupName, dataId } = params
  return configKey(toNamespaceId(namespaceId), groupName, dataId)
}
