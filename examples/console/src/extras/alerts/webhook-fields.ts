import type { Fields, Read } from '../../form/form.ts'
import type { Webhook, WebhookChange } from './alerts-api.ts'

const LAYER = 'layers.'

export function layerPath(name: string): string {
  return LAYER + name
}

export function layerOf(path: string): string | undefined {
  return path.startsWith(LAYER) ? path.slice(LAYER.length) : undefined
}

/** @param layers the names of all layers */
export function webhookFields(layers: readonly string[], { url, layers: alerted }: Webhook): Fields {
  return {
    url: url ?? '',
    ...Object.fromEntries(layers.map((name) => [layerPath(name), String(alerted.includes(name))])),
  }
}

export function webhookOf(layers: readonly string[], fields: Fields): Read<WebhookChange> {
  const url = (fields.url ?? '').trim()
  if (url === '') return { body: undefined, faults: { url: 'url' } }
  return { body: { url, layers: layers.filter((name) => fields[layerPath(name)] === 'true') }, faults: {} }
}
