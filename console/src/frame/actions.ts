import { t } from '../language/text.ts'
import { linkTo, type ViewPath } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { currentNamespace, namespaceParam, namespaces } from '../state/namespaces.ts'
import { isAdministrator, mayWriteConfigs } from '../state/user.ts'
import { NAVIGATION, VIEWS, viewOf } from './views.tsx'

/** Something to go to. */
export interface Action {
  readonly title: string
  readonly href: string
}

const MOST_NAMESPACES = 8

/** The views and actions whose names have a text; all for the empty one. */
export function actionsFor(text: string): Action[] {
  const views: ViewPath[] = NAVIGATION.filter(
    ({ forAdministrators }) => forAdministrators !== true || isAdministrator(),
  ).flatMap((group) => group.views.map(([path]) => path))
  if (mayWriteConfigs(currentNamespace())) views.push('config/new')
  const wanted = text.toLowerCase()
  return views
    .map((path) => ({ title: t(VIEWS[path].title), href: linkTo(path) }))
    .filter(({ title }) => title.toLowerCase().includes(wanted))
}

/** The namespaces whose names have a text, with this view in each. */
export function namespacesFor(text: string): { readonly id: string; readonly href: string }[] {
  const wanted = text.toLowerCase()
  const view = viewOf(place.value.path)
  // Not every view shows what is in a namespace.
  const path = view.hasNamespace ? view.below : 'configs'
  return (namespaces.value ?? [])
    .filter(({ id, name }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted))
    .slice(0, MOST_NAMESPACES)
    .map(({ id }) => ({ id, href: linkTo(path, { ns: namespaceParam(id) }) }))
}
