import iconUrl from './icon.svg'

/** The name of the product, with a way to the first view. */
export function Brand() {
  return (
    <a class="brand" href="#/home">
      <img src={iconUrl} alt="" />
      Waypost
    </a>
  )
}
