import { nearest } from '@scoregw/quota/options'
import { VARIABLES } from './variables.ts'

/** A variable of the environment that is unknown but similar to one of the gateway's. */
export interface Misspelt {
  readonly name: string
  readonly meant: string
}

const NAMES = Object.keys(VARIABLES)

/** @param env the environment that the configuration is read from */
export function misspelt(env: Readonly<Record<string, string | undefined>>): Misspelt[] {
  const strangers = Object.keys(env).filter((name) => !Object.hasOwn(VARIABLES, name))
  // One that is set besides the variable itself was meant for something else.
  const unset = NAMES.filter((name) => !env[name])
  return strangers.flatMap((name) => {
    const meant = env[name] ? nearest(name, unset) : undefined
    return meant === undefined ? [] : [{ name, meant }]
  })
}
