import { tagName } from '../../core/config/state/gray-rule.ts'
import type { Caller } from '../authorisation.ts'
import type { configOperations, PublishRequest, RemoveRequest } from './configs.ts'
import type { GrayPublishRequest, grayOperations } from './gray.ts'

/** The operations on formal and on gray versions, between which one request of clients chooses. */
interface ForAllOrSome {
  readonly configs: Pick<ReturnType<typeof configOperations>, 'publish' | 'remove'>
  readonly gray: Pick<ReturnType<typeof grayOperations>, 'publish' | 'stop'>
}

/** Publishes the formal version, or a gray one where a release is given. */
export async function publishForAllOrSome(
  { configs, gray }: ForAllOrSome,
  request: PublishRequest,
  { release, caller }: { release: Pick<GrayPublishRequest, 'name' | 'rule'> | undefined; caller: Caller },
): Promise<void> {
  if (release === undefined) await configs.publish(request, caller)
  else await gray.publish({ ...request, ...release }, caller)
}

/** Deletes an item, or ends its version for a tag where one is given. */
export async function removeForAllOrSome(
  { configs, gray }: ForAllOrSome,
  {
    tag,
    ...request
  }: Pick<RemoveRequest, 'key' | 'srcUser' | 'keepsGray'> & { readonly tag: string | undefined },
  caller: Caller,
): Promise<void> {
  if (tag === undefined) await configs.remove(request, caller)
  else await gray.stop({ key: request.key, srcUser: request.srcUser, name: tagName(tag) }, caller)
}
