import { grayNotFound } from '../../../../core/config/commands/publish-gray.ts'
import type { Operations } from '../../../../operations/operations.ts'
import type { PublishRequest } from '../../../../operations/config/configs.ts'
import { pageOf } from '../../../../operations/page.ts'
import {
  KEY_PARAMS,
  toConfigKey,
  comment,
  type PublishLimits,
  type PublishParams,
  publishParams,
  toStrictPublishRequest,
} from '../../../parameters/publish-params.ts'
import * as fields from '../../../parameters/fields.ts'
import {
  GRAY_RELEASE_PARAMS,
  grayExpression,
  grayName,
  grayPriority,
  type GrayReleaseParams,
  toGrayRelease,
} from '../../../parameters/gray-params.ts'
import { labelsOf } from '../../../parameters/label-texts.ts'
import { type Properties, type Static, Type } from '../../../parameters/schema.ts'
import {
  ANSWERS_TRUE,
  answersJson,
  Json,
  jsonAnswer,
  pageJson,
  pageSchema,
  TRUE_JSON,
} from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { SCOPE_PARAMS, scopeOf } from '../console/namespace-scope.ts'
import { CAS_HEADER, casMd5Of } from './http-viewer.ts'
import {
  explainedJson,
  EXPLAINED_SCHEMA,
  GRAY_ITEM_SCHEMA,
  GRAY_TEXT_SCHEMA,
  grayItemJson,
  grayTextJson,
} from './gray-json.ts'

type Gray = Operations['gray']

/** Items on a page: each may have ten rules of some kilobytes. */
const MOST_ON_PAGE = 100

const casMd5 = Type.Optional(fields.allowingEmpty(fields.casMd5))

/** The notes of a change, and the md5 that it depends on. */
const NOTES = { casMd5, comment: Type.Optional(comment), src_user: Type.Optional(fields.srcUser) }
const CHANGE_PARAMS = { ...KEY_PARAMS, grayName, ...NOTES }
const CHANGE = Type.Object(CHANGE_PARAMS)

/** The parameters of a publish besides the content and the release, and how a dialect reads the type and `casMd5`. */
export interface GrayPublish {
  readonly notes: Properties
  readonly requestOf: (params: PublishParams, casMd5?: string) => PublishRequest
  readonly casOf: (casMd5: string | undefined) => string | undefined
}

const PUBLISH: GrayPublish = {
  notes: { ...NOTES, encryptedDataKey: Type.Optional(fields.encryptedDataKey) },
  requestOf: toStrictPublishRequest,
  casOf: (md5) => md5,
}

/** The items with gray versions, of a namespace or of all. */
export function listGray(gray: Gray): Endpoint {
  return endpoint({
    summary:
      'Lists the items with gray versions, oldest release first; with dataId and group one item. With pageNo it is a page, without it all of the list',
    permission: gray.out.permission,
    answers: answersJson(
      Json.anyOf(pageSchema('GrayItemPage', GRAY_ITEM_SCHEMA), Json.list(GRAY_ITEM_SCHEMA)),
    ),
    params: Type.Object({
      ...SCOPE_PARAMS,
      dataId: Type.Optional(fields.dataId),
      group: Type.Optional(fields.group),
      pageNo: Type.Optional(fields.pageNo),
      pageSize: fields.withDefault(fields.pageSize, MOST_ON_PAGE),
    }),
    handle: ({ params, caller }) => {
      const { dataId, group, pageNo } = params
      const items = gray.out({ namespaceId: scopeOf(params) }, caller)
      const isMeant = (of: string | undefined, name: string): boolean => of === undefined || of === name
      const meant = items.filter(({ key }) => isMeant(dataId, key.dataId) && isMeant(group, key.group))
      if (pageNo === undefined) return jsonAnswer(meant.map(grayItemJson))
      const page = { pageNo, pageSize: Math.min(params.pageSize, MOST_ON_PAGE) }
      return jsonAnswer(pageJson(page, meant.length, pageOf(meant, page).map(grayItemJson)))
    },
  })
}

/** A gray version with its text. */
export function readGray(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Reads a gray version with its text',
    permission: gray.find.permission,
    answers: answersJson(GRAY_TEXT_SCHEMA),
    params: Type.Object({ ...KEY_PARAMS, grayName }),
    handle: ({ params, caller }) => {
      const found = gray.find({ key: toConfigKey(params), name: params.grayName }, caller)
      if (found === undefined) throw grayNotFound(params.grayName)
      return jsonAnswer(grayTextJson(found))
    },
  })
}

/** The version that a client sees, and why. */
export function explainGray(gray: Gray): Endpoint {
  return endpoint({
    summary:
      'Says which version of an item a client sees, and of each gray version whether it is for the client',
    permission: gray.explain.permission,
    answers: answersJson(EXPLAINED_SCHEMA),
    params: Type.Object({
      ...KEY_PARAMS,
      ip: Type.Optional(Type.String({ maxLength: 64, description: 'Its address, as rules know it.' })),
      tag: Type.Optional(Type.String({ maxLength: 128, description: 'Its tag.' })),
      labels: Type.Optional(
        Type.String({
          maxLength: 8_192,
          description:
            'Its labels without `app_`: `key=value`, separated by commas; a backslash before a comma makes it a part of the value.',
        }),
      ),
    }),
    handle: ({ params, caller }) => {
      const { ip = '', tag, labels = '' } = params
      const who = { ip, tag, labels: labelsOf(labels) }
      return jsonAnswer(explainedJson(gray.explain({ key: toConfigKey(params), who }, caller)))
    },
  })
}

/** A text for some clients under a name. */
export function publishGray(
  gray: Gray,
  limits: PublishLimits,
  { notes, requestOf, casOf } = PUBLISH,
): Endpoint {
  return endpoint({
    summary: 'Publishes a text for some clients; casMd5 is the md5 of the gray version that it replaces',
    permission: gray.publish.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({ ...publishParams(limits), ...GRAY_RELEASE_PARAMS, ...notes }),
    headers: CAS_HEADER,
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      const said = params as PublishParams & GrayReleaseParams & { readonly casMd5?: string }
      const request = requestOf(said, casOf(casMd5Of(caller, said)))
      await gray.publish({ ...request, ...toGrayRelease(said) }, caller)
      return TRUE_JSON
    },
  })
}

/** Other clients for a gray version. */
export function growGray(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Gives a gray version to other clients; its text stays',
    permission: gray.grow.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({
      ...CHANGE_PARAMS,
      grayMatchRuleExp: grayExpression,
      grayPriority: Type.Optional(grayPriority),
    }),
    handle: async ({ params, caller }) => {
      const { grayMatchRuleExp: expr, grayPriority: priority } = params
      await gray.grow({ ...changeOf(params, params.casMd5), expr, priority }, caller)
      return TRUE_JSON
    },
  })
}

/** The end of a gray version, which must be there. */
export function stopGray(gray: Gray): Endpoint {
  return endpoint({
    summary: 'Ends a gray version: its clients get what all others get',
    permission: gray.stop.permission,
    answers: ANSWERS_TRUE,
    params: CHANGE,
    headers: CAS_HEADER,
    handle: async ({ params, caller }) => {
      const wasThere = await gray.stop(changeOf(params, casMd5Of(caller, params)), caller)
      if (!wasThere) throw grayNotFound(params.grayName)
      return TRUE_JSON
    },
  })
}

/** The text of a gray version for all clients. */
export function promoteGray(gray: Gray): Endpoint {
  return endpoint({
    summary:
      'Gives the text of a gray version to all, and ends all gray versions of the item; casMd5 is the md5 of the formal version',
    permission: gray.promote.permission,
    answers: ANSWERS_TRUE,
    params: CHANGE,
    headers: CAS_HEADER,
    handle: async ({ params, caller }) => {
      await gray.promote(changeOf(params, casMd5Of(caller, params)), caller)
      return TRUE_JSON
    },
  })
}

function changeOf(params: Static<typeof CHANGE>, md5: string | undefined) {
  const { grayName: name, comment: why, src_user: srcUser } = params
  return { key: toConfigKey(params), name, casMd5: md5, comment: why, srcUser }
}
