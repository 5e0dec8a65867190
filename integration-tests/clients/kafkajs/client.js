// The client of the tests for kafkajs; ../README.md has the commands.
'use strict'

const readline = require('node:readline')
const { once } = require('node:events')
const lz4 = require('lz4-napi')
const zstd = require('@mongodb-js/zstd')
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs')

const RECORDS_IN_A_BATCH = 200

/** kafkajs has gzip; the others are packages. Its own for zstd does not build on Node.js 20. */
const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}
CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: encoder => lz4.compressFrame(encoder.buffer),
  decompress: buffer => lz4.decompressFrame(buffer),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: encoder => zstd.compress(encoder.buffer),
  decompress: buffer => zstd.decompress(buffer),
})

const decode = field => (field === '-' ? null : Buffer.from(field, 'hex'))
const encode = value => (value === null || value === undefined ? '-' : Buffer.from(value).toString('hex'))
const client = bootstrap => new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.ERROR, retry: { retries: 20 } })

function message(line, partition) {
  const [timestamp, key, value, ...fields] = line.split('\t')
  const headers = {}
  for (const field of fields) {
    const [name, header] = field.split('=')
    const text = Buffer.from(name, 'hex').toString()
    headers[text] = [...(headers[text] ?? []), decode(header)]
  }
  return { timestamp, key: decode(key), value: decode(value), headers, partition }
}

async function produce(bootstrap, topic, partition, codec, transactionalId) {
  const producer = client(bootstrap).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    ...(transactionalId ? { transactionalId } : {}),
  })
  await producer.connect()
  let target = producer
  let messages = []
  const flush = async () => {
    if (messages.length > 0) {
      await target.send({ topic, acks: -1, compression: CODECS[codec], messages })
      messages = []
    }
  }
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'begin') {
      target = await producer.transaction()
    } else if (line === 'commit' || line === 'abort') {
      await flush()
      await target[line]()
    } else {
      messages.push(message(line, Number(partition)))
      if (messages.length === RECORDS_IN_A_BATCH) await flush()
    }
  }
  await flush()
  await producer.disconnect()
}

async function consume(bootstrap, topic, isolation, ...lastOffsets) {
  const consumer = client(bootstrap).consumer({
    groupId: `kafkajs-${process.pid}-${Date.now()}`,
    readUncommitted: isolation === 'read_uncommitted',
    maxWaitTimeInMs: 500,
  })
  const left = new Map(lastOffsets.map(last => last.split(':').map(Number)))
  let done
  const all = new Promise((resolve, reject) => {
    done = resolve
    consumer.on(consumer.events.CRASH, ({ payload }) => payload.restart || reject(payload.error))
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch: { partition, messages } }) => {
      const lines = []
      for (const { offset, timestamp, key, value, headers } of messages) {
        if (!left.has(partition)) break
        const fields = Object.entries(headers ?? {}).flatMap(([name, values]) =>
          (Array.isArray(values) ? values : [values]).map(
            header => `${Buffer.from(name).toString('hex')}=${encode(header)}`))
        lines.push([partition, offset, timestamp, encode(key), encode(value), ...fields].join('\t') + '\n')
        if (Number(offset) >= left.get(partition)) left.delete(partition)
      }
      if (!process.stdout.write(lines.join(''))) await once(process.stdout, 'drain')
      if (left.size === 0) done()
    },
  })
  await all
  await consumer.disconnect()
}

const commands = {
  produce,
  consume,
  version: async () => console.log(`kafkajs ${require('kafkajs/package.json').version}`),
}

commands[process.argv[2]](...process.argv.slice(3)).catch(e => {
  console.error(e)
  process.exit(1)
})
