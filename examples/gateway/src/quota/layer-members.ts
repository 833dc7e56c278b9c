import type { Policy, Subject } from '@scoregw/quota'

/** Members of the settings document that are not layers. */
const RESERVED = ['version', 'mode', 'base', 'custom', 'prices', 'shadow', 'plans', 'thresholds', 'faults', 'warnings']

/** Returns the shared layers. Each is a member of the settings document. */
export function sharedLayers({ layers }: Policy): readonly string[] {
  return layers.filter(({ shared }) => shared).map(({ name }) => name)
}

/** Returns the layers that aren't shared. The first is the default. */
export function ownLayers({ layers }: Policy): readonly string[] {
  return layers.filter(({ shared }) => !shared).map(({ name }) => name)
}

/** Returns the member of a user's document that exempts the user from a shared layer: `bypassSite` for `site`. */
export function bypassMember(layer: string): string {
  return `bypass${layer.charAt(0).toUpperCase()}${layer.slice(1)}`
}

/**
 * Checks that the shared layers can have members in the documents.
 *
 * @throws {Error} naming those that can't
 */
export function checkLayerMembers(policy: Policy): void {
  const shared = sharedLayers(policy)
  const taken = shared.filter((name) => RESERVED.includes(name))
  const members = shared.map(bypassMember)
  const twice = shared.filter((name) => members.filter((member) => member === bypassMember(name)).length > 1)
  const faults = [
    ...taken.map((name) => `"${name}" is another member of the settings' document`),
    ...twice.map((name) => `"${name}" has the member ${bypassMember(name)} together with another layer`),
  ]
  if (faults.length > 0) throw new Error(`shared layers of the policy need other names: ${faults.join('; ')}`)
}

/** Converts the path of a fault in the library's form to the document's form. */
export function outerPath(path: string): string {
  return path.replace(/^layers\./, '')
}

/** Maps users to subjects: the user's id is the key in every layer that isn't shared. */
export function subjectsOf(policy: Policy): (userId: string) => Subject {
  const own = ownLayers(policy)
  if (own.length === 1) return (userId) => userId
  return (userId) => Object.fromEntries(own.map((layer) => [layer, userId]))
}
