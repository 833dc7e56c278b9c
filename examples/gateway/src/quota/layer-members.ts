import type { Policy, Subject } from '@scoregw/quota'

/** Members of the settings' document that are no layer's. */
const RESERVED = ['version', 'mode', 'base', 'custom', 'prices', 'shadow', 'plans', 'thresholds', 'faults', 'warnings']

/** Layers that all subjects share: in the settings' document each has a member of its own name. */
export function sharedLayers({ layers }: Policy): readonly string[] {
  return layers.filter(({ shared }) => shared).map(({ name }) => name)
}

/** Layers that each user has windows of, the first of them being meant where none is named. */
export function ownLayers({ layers }: Policy): readonly string[] {
  return layers.filter(({ shared }) => !shared).map(({ name }) => name)
}

/** The member of a user's document that takes a shared layer away from the user: `bypassSite` for `site`. */
export function bypassMember(layer: string): string {
  return `bypass${layer.charAt(0).toUpperCase()}${layer.slice(1)}`
}

/**
 * Asks that every shared layer can have its members.
 * @throws {Error} naming those that cannot
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

/** Where a fault of the library's form is in the documents'. */
export function outerPath(path: string): string {
  return path.replace(/^layers\./, '')
}

/** Makes users subjects: whatever layers there are that each user has windows of, the user is the key in all of them. */
export function subjectsOf(policy: Policy): (userId: string) => Subject {
  const own = ownLayers(policy)
  if (own.length === 1) return (userId) => userId
  return (userId) => Object.fromEntries(own.map((layer) => [layer, userId]))
}
