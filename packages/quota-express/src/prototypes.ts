import { IncomingMessage, ServerResponse } from 'node:http'
import { Exchange, hookedWriteHead, type MeteredRequest, nodeCarrier, type WriteHead } from '@scoregw/quota/http'
import type { Request, Response } from 'express'

/*
 * Express gives each request and response the prototype of its app, after which each of them has a shape of its own: a
 * property that is put on one costs more there than a decision. So what they all share stands on the prototypes of
 * Express, which inherit from each other, once.
 */

/** The object that all prototypes of one Express inherit from: the one right below Node's class. */
function highestBelow(prototype: object, top: object): object | undefined {
  for (let highest = prototype; ; ) {
    const next = Object.getPrototypeOf(highest) as object | null
    if (next === top) return highest
    if (next === null) return undefined
    highest = next
  }
}

/** The hooks of prototypes that were looked at; `undefined`: they are not Express's. */
const hooks = new WeakMap<object, WriteHead | undefined>()

/** What responses of this one's Express are written by, made when it is asked for first. */
export function hookOf(res: Response): WriteHead | undefined {
  const prototype = Object.getPrototypeOf(res) as object
  if (hooks.has(prototype)) return hooks.get(prototype)
  const highest = highestBelow(prototype, ServerResponse.prototype) as { writeHead: WriteHead } | undefined
  const hook = highest === undefined ? undefined : (hooks.get(highest) ?? hooked(highest))
  hooks.set(prototype, hook)
  if (highest !== undefined) hooks.set(highest, hook)
  return hook
}

function hooked(prototype: { writeHead: WriteHead }): WriteHead {
  const hook = hookedWriteHead(prototype.writeHead)
  Object.defineProperty(prototype, 'writeHead', { value: hook, configurable: true, writable: true })
  return hook
}

/** For each name the prototypes whose requests give out their quota under it; `false`: they are not Express's. */
const named = new Map<string, WeakMap<object, boolean>>()

/**
 * Attaches a quota to a request.
 *
 * @returns whether something was there already, which it replaces
 */
export function attach(req: Request, exchange: Exchange, name: string, quota: MeteredRequest): boolean {
  const isOwn = Object.hasOwn(req, name)
  if (isOwn || !hasProperty(Object.getPrototypeOf(req) as object, name)) {
    const holder = req as unknown as Record<string, unknown>
    const isTaken = holder[name] !== undefined
    holder[name] = quota
    return isTaken
  }
  const isTaken = exchange.attachedAs(name) !== undefined
  quota.attachedAs = name
  return isTaken
}

/** Whether requests of a prototype give out their quota under a name, which they are made to do if that is free. */
function hasProperty(prototype: object, name: string): boolean {
  let prototypes = named.get(name)
  if (prototypes === undefined) {
    prototypes = new WeakMap()
    named.set(name, prototypes)
  }
  const known = prototypes.get(prototype)
  if (known !== undefined) return known
  const highest = highestBelow(prototype, IncomingMessage.prototype)
  const has = highest !== undefined && (prototypes.get(highest) ?? defined(highest, prototype, name))
  prototypes.set(prototype, has)
  if (highest !== undefined) prototypes.set(highest, has)
  return has
}

function defined(highest: object, prototype: object, name: string): boolean {
  if (name in prototype) return false
  Object.defineProperty(highest, name, {
    get(this: object): unknown {
      return Exchange.find(nodeCarrier(this))?.attachedAs(name)
    },
    // Who puts something else there has it there.
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true })
    },
    configurable: true,
    enumerable: false,
  })
  return true
}
