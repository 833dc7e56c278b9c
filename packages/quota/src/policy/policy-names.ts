/** Who asks: one string, or one key for each layer that is not shared. Any text of 1 to 256 bytes. */
export type Subject = string | Readonly<Record<string, string>>

/** The names of a policy, as the types of its engine know them; by itself any. */
export interface PolicyNames {
  /** Who asks: a string; with several layers that are not shared an object with a key for each. */
  readonly subject: Subject
  readonly plan: string
  /** A layer in which each subject has windows of its own. */
  readonly ownLayer: string
  readonly sharedLayer: string
  readonly category: string
  /** A window's label. */
  readonly window: string
  /** The label of concurrency. */
  readonly slots: string
}

/** Whether a type is a union of several. */
export type IsUnion<T, Each = T> = T extends T ? ([Each] extends [T] ? false : true) : never

/** What a subject is where these layers are not shared. */
export type SubjectOf<OwnLayer extends string> = string extends OwnLayer
  ? Subject
  : IsUnion<OwnLayer> extends true
    ? { readonly [layer in OwnLayer]: string }
    : string

/** The label of a limit: of a window, or of concurrency. */
export type LabelIn<Names extends PolicyNames> = Names['window'] | Names['slots']

/** A name of a layer, shared or not. */
export type LayerIn<Names extends PolicyNames> = Names['ownLayer'] | Names['sharedLayer']

/** A table with an entry for some of these names; by names that nobody knows, as any table. */
export type Some<Name extends string, T> = string extends Name
  ? Readonly<Record<Name, T>>
  : { readonly [name in Name]?: T }
