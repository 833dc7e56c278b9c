/** What only the workspace needs does not go into a published manifest: names of private packages, paths to sources. */
function beforePacking({ devDependencies: _, scripts: __, ...manifest }) {
  const entries = Object.entries(manifest.exports ?? {}).map(([entry, conditions]) => {
    if (typeof conditions === 'string') return [entry, conditions]
    const { '@scoregw/source': ___, ...published } = conditions
    return [entry, published]
  })
  return { ...manifest, exports: Object.fromEntries(entries) }
}

export const hooks = { beforePacking }
