import { BETA_NAME } from '../../../../core/config/state/gray-rule.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { MAX_PAGE_BYTES } from '../../../../operations/config/configs.ts'
import { publishForAllOrSome, removeForAllOrSome } from '../../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { casOfClients, grayOfClients, grayName } from '../../../parameters/gray-params.ts'
import {
  KEY_PARAMS,
  toConfigKey,
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../../parameters/publish-params.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { ANSWERS_TRUE, jsonAnswer, TRUE_JSON } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { casMd5Of, headerText } from './http-viewer.ts'
import { type GrayPublish, publishGray } from './gray-endpoints.ts'
import { grayInfoJson } from './gray-json.ts'

type Gray = Operations['gray']
type ClientEndpointParts = Pick<Operations, 'configs' | 'gray'>

const { casMd5: _, ...NOTES } = noteParams({ isEmptyAValue: false })
const tag = Type.Optional(fields.tag)

/** The md5 that a change depends on is a header alone. */
const NOTED: GrayPublish = { notes: { ...NOTES, tag }, requestOf: toPublishRequest, casOf: casOfClients }

/** The publish of clients of generation 2 and 3: for all, or with the header betaIps or a tag for some. */
export function publishOfClients({ configs, gray }: ClientEndpointParts, limits: PublishLimits): Endpoint {
  return endpoint({
    summary:
      'Publishes a configuration item; the header casMd5 makes it depend on the current md5. With the header betaIps or a tag it is for some clients only',
    permission: configs.publish.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({ ...publishParams(limits), ...NOTES, tag }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      const request = toPublishRequest(params, casOfClients(casMd5Of(caller, {})))
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: params.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return TRUE_JSON
    },
  })
}

/** The deletion of clients of generation 2 and 3: of the item, or with a tag of its version for some. */
export function removeOfClients({ configs, gray }: ClientEndpointParts): Endpoint {
  return endpoint({
    summary: 'Deletes a configuration item, or ends its version for a tag',
    permission: configs.remove.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({ ...KEY_PARAMS, tag }),
    handle: async ({ params, caller }) => {
      await removeForAllOrSome({ configs, gray }, { key: toConfigKey(params), tag: params.tag }, caller)
      return TRUE_JSON
    },
  })
}

/** The publish of clients of generation 3 under a name. */
export function publishGrayOfClients(gray: Gray, limits: PublishLimits): Endpoint {
  const { headers: _casMd5, ...publish } = publishGray(gray, limits, NOTED)
  return {
    ...publish,
    summary: 'Publishes a text for some clients under a name: by labels, a share, addresses or a tag',
  }
}

/** The version of an item for some addresses. Refusal `gray-not-found`. */
export function readBeta(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Reads the version of an item for some addresses; code 20004 where there is none',
    permission: gray.find.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => {
      const found = gray.find({ key: toConfigKey(params), name: BETA_NAME }, caller)
      if (found === undefined) throw new Refusal('gray-not-found', 'Config is not in beta.')
      return jsonAnswer(grayInfoJson(found))
    },
  })
}

/** The end of the version for some addresses, whether it was there or not. */
export function stopBeta(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Ends the version of an item for some addresses',
    permission: gray.stop.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object(KEY_PARAMS),
    handle: async ({ params, caller }) => {
      await gray.stop({ key: toConfigKey(params), name: BETA_NAME }, caller)
      return TRUE_JSON
    },
  })
}

/** A gray version of an item, or without a name all its gray versions, as other servers answer too. */
export function readGrayOfClients(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Reads a gray version of an item, or without grayName all its gray versions',
    permission: gray.find.permission,
    params: Type.Object({ ...KEY_PARAMS, grayName: Type.Optional(grayName) }),
    handle: ({ params, caller }) => {
      const key = toConfigKey(params)
      const find = (name: string) => gray.find({ key, name }, caller)
      const { grayName: name } = params
      if (name === undefined) {
        const versions = gray.of({ key }, caller)
        refuseHeavyVersions(versions)
        return jsonAnswer(versions.flatMap((version) => find(version.name) ?? []).map(grayInfoJson))
      }
      const found = find(name)
      if (found === undefined) throw new Refusal('gray-not-found', `Config has no gray version ${name}.`)
      return jsonAnswer(grayInfoJson(found))
    },
  })
}

/** Refusal `too-large`: texts larger than a page of items would delay all other requests while they are written. */
function refuseHeavyVersions(versions: readonly { readonly size: number }[]): void {
  const bytes = versions.reduce((sum, { size }) => sum + size, 0)
  if (bytes <= MAX_PAGE_BYTES) return
  const allowed = `versions whose texts have at most ${MAX_PAGE_BYTES} bytes in all`
  const message = `One answer may have ${allowed}, but these have ${bytes}: name one with grayName.`
  throw new Refusal('too-large', message, { parameter: 'grayName', allowed })
}

/** The end of a gray version, whether it was there or not. */
export function stopGrayOfClients(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Ends a gray version of an item',
    permission: gray.stop.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({ ...KEY_PARAMS, grayName }),
    handle: async ({ params, caller }) => {
      await gray.stop({ key: toConfigKey(params), name: params.grayName }, caller)
      return TRUE_JSON
    },
  })
}
