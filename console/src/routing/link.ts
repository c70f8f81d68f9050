import { currentNamespace, namespaceParam, readableNamespace } from '../state/namespaces.ts'
import { mayRead } from '../state/user.ts'
import { addressOf, go, place, type ViewLocation } from '../state/location.ts'

/** The views of the page. */
export type ViewPath =
  | 'home'
  | 'compare'
  | 'configs'
  | 'config'
  | 'config/new'
  | 'bin'
  | 'gray'
  | 'listened'
  | 'services'
  | 'service'
  | 'namespaces'
  | 'users'
  | 'user'
  | 'roles'
  | 'permissions'
  | 'audit'
  | 'servers'
  | 'clients'
  | 'switches'

/** The address of a view; of the present namespace, unless `params` say another. */
export const linkTo = (path: ViewPath, params: ViewLocation['params'] = {}): string =>
  addressOf(viewAt(path, params))

/** A view as a location. */
export const viewAt = (path: ViewPath, params: ViewLocation['params'] = {}): ViewLocation => ({
  path,
  params: { ns: namespaceParam(linkedNamespace()), ...params },
})

/** The present namespace, except after a link to one that the user may not see. */
function linkedNamespace(): string {
  const id = currentNamespace()
  return mayRead(id) ? id : readableNamespace(id)
}

/** This view with other parameters. */
export const placeWith = (params: ViewLocation['params']): ViewLocation => ({
  path: place.value.path,
  params: { ...place.value.params, ...params },
})

/** Turns to a page of a list; `reload` reads it again where the address names that page already. */
export function turnTo(pageNo: number, reload: () => void): void {
  const to = placeWith({ page: String(pageNo) })
  if (addressOf(to) === addressOf(place.value)) reload()
  else go(to)
}
