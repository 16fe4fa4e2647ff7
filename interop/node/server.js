// A node-opcua server for our client: every built-in type as scalar and array,
// a matrix, a structure, methods, both kinds of user token, all policies.
//
//   node node/server.js --port 4841 --pki DIR [--allow-deprecated]
//
// Prints {"event":"listening","url":…} once clients can connect and ends on
// SIGTERM, SIGINT or when standard input closes (so that a killed parent does
// not leave it behind).

import path from "node:path";
import {
  AccessLevelFlag, DataType, MessageSecurityMode, SecurityPolicy, StatusCodes, Variant, VariantArrayType,
  coerceNodeId,
} from "node-opcua-client";
import { nodesets } from "node-opcua-nodesets";
import { OPCUAServer } from "node-opcua-server";
import { emit, makePki, parseArguments } from "./peer.js";

const options = parseArguments(process.argv.slice(2), { port: "string", pki: "string", "allow-deprecated": "boolean" });
const port = Number(options.port);
const applicationUri = "urn:localhost:actua-interop:server";
const pki = await makePki(path.join(options.pki, "own"), "server", applicationUri);

const securityPolicies = [
  SecurityPolicy.None, SecurityPolicy.Basic256Sha256, SecurityPolicy.Aes128_Sha256_RsaOaep, SecurityPolicy.Aes256_Sha256_RsaPss,
];
if (options["allow-deprecated"]) securityPolicies.push(SecurityPolicy.Basic128Rsa15, SecurityPolicy.Basic256);

const server = new OPCUAServer({
  port,
  host: "127.0.0.1",
  hostname: "127.0.0.1",
  nodesets: [nodesets.standard],
  serverInfo: { applicationUri, productUri: "urn:actua-interop", applicationName: { text: "Actua interop" } },
  serverCertificateManager: pki.manager,
  userCertificateManager: pki.manager,
  certificateFile: pki.certificateFile,
  privateKeyFile: pki.privateKeyFile,
  allowAnonymous: true,
  securityPolicies,
  securityModes: [MessageSecurityMode.None, MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt],
  userManager: { isValidUser: (user, password) => user === "operator" && password === "operator" },
  // Many cases follow each other quickly; none of them may be turned away.
  maxConnectionsPerEndpoint: 200,
  serverCapabilities: {
    maxSessions: 200,
    maxArrayLength: 1_000_000,
    maxByteStringLength: 4_000_000,
    maxStringLength: 4_000_000,
  },
});
await server.initialize();

const space = server.engine.addressSpace;
const namespace = space.getOwnNamespace();
const objects = space.rootFolder.objects;
const readWrite = AccessLevelFlag.CurrentRead | AccessLevelFlag.CurrentWrite;

// Samples of every built-in type that a Variant may hold, in two values each.
const guids = ["72962B91-FA75-4AE6-8D28-B404DC7DAF63", "00000000-0000-0000-0000-000000000001"];
const samples = {
  Boolean: [true, false],
  SByte: [-128, 127],
  Byte: [0, 255],
  Int16: [-32768, 32767],
  UInt16: [0, 65535],
  Int32: [-2147483648, 2147483647],
  UInt32: [0, 4294967295],
  Int64: [[0x80000000, 0], [0x7fffffff, 0xffffffff]],
  UInt64: [[0, 1], [0xffffffff, 0xffffffff]],
  Float: [1.5, -0.25],
  Double: [3.141592653589793, -1e300],
  String: ["grüße, 世界", "second"],
  DateTime: [new Date(Date.UTC(2024, 1, 29, 12, 34, 56, 789)), new Date(Date.UTC(1999, 11, 31))],
  Guid: guids,
  ByteString: [Buffer.from([0, 1, 2, 255]), Buffer.from("xyz")],
  XmlElement: ["<a b=\"c\"/>", "<d/>"],
  NodeId: [coerceNodeId("ns=1;s=AllTypes"), coerceNodeId("i=2258")],
  ExpandedNodeId: [coerceNodeId("ns=1;g=72962B91-FA75-4AE6-8D28-B404DC7DAF63"), coerceNodeId("i=85")],
  StatusCode: [StatusCodes.BadTimeout, StatusCodes.Good],
  QualifiedName: [{ namespaceIndex: 1, name: "Qualified" }, { namespaceIndex: 0, name: "Plain" }],
  LocalizedText: [{ locale: "de", text: "Pumpe" }, { text: "no locale" }],
};

function addVariable(parent, name, dataType, value, extra = {}) {
  return namespace.addVariable({
    organizedBy: parent,
    nodeId: `s=${name}`,
    browseName: name.split(".").at(-1),
    displayName: name,
    description: `${dataType} for interoperability tests`,
    dataType,
    accessLevel: readWrite,
    userAccessLevel: readWrite,
    value,
    ...extra,
  });
}

const allTypes = namespace.addFolder(objects, { nodeId: "s=AllTypes", browseName: "AllTypes" });
for (const [name, values] of Object.entries(samples)) {
  addVariable(allTypes, `AllTypes.${name}`, name, { dataType: DataType[name], arrayType: VariantArrayType.Scalar, value: values[0] });
  addVariable(allTypes, `AllTypes.${name}Array`, name,
    { dataType: DataType[name], arrayType: VariantArrayType.Array, value: values },
    { valueRank: 1, arrayDimensions: [0] });
}
const range = (low, high) => space.constructExtensionObject(space.findDataType("Range"), { low, high });
addVariable(allTypes, "AllTypes.Structure", "Range", { dataType: DataType.ExtensionObject, value: range(0, 100) });
addVariable(allTypes, "AllTypes.StructureArray", "Range",
  { dataType: DataType.ExtensionObject, arrayType: VariantArrayType.Array, value: [range(0, 1), range(-1, 1)] },
  { valueRank: 1, arrayDimensions: [0] });
addVariable(allTypes, "AllTypes.VariantArray", "BaseDataType",
  {
    dataType: DataType.Variant,
    arrayType: VariantArrayType.Array,
    value: [new Variant({ dataType: DataType.Int32, value: 7 }), new Variant({ dataType: DataType.String, value: "seven" })],
  },
  { valueRank: 1, arrayDimensions: [0] });
addVariable(allTypes, "AllTypes.Matrix", "Double",
  { dataType: DataType.Double, arrayType: VariantArrayType.Matrix, dimensions: [2, 3], value: Float64Array.from([1, 2, 3, 4, 5, 6]) },
  { valueRank: 2, arrayDimensions: [2, 3] });

// An answer of 800 kB needs more than one chunk.
addVariable(objects, "Large", "Double",
  { dataType: DataType.Double, arrayType: VariantArrayType.Array, value: Float64Array.from({ length: 100_000 }, (_, i) => i / 2) },
  { valueRank: 1, arrayDimensions: [0] });

// Enough children for many continuation points.
const many = namespace.addFolder(objects, { nodeId: "s=Many", browseName: "Many" });
for (let i = 0; i < 500; i++) {
  addVariable(many, `Many.V${i}`, "Int32", { dataType: DataType.Int32, value: i });
}

const calculator = namespace.addObject({ organizedBy: objects, nodeId: "s=Calculator", browseName: "Calculator" });
const add = namespace.addMethod(calculator, {
  nodeId: "s=Calculator.Add",
  browseName: "Add",
  inputArguments: [
    { name: "a", dataType: DataType.Double, valueRank: -1 },
    { name: "b", dataType: DataType.Double, valueRank: -1 },
  ],
  outputArguments: [{ name: "sum", dataType: DataType.Double, valueRank: -1 }],
});
add.bindMethod((inputs, _context, callback) => callback(null, {
  statusCode: StatusCodes.Good,
  outputArguments: [{ dataType: DataType.Double, value: inputs[0].value + inputs[1].value }],
}));

// What subscriptions see: a counter that goes up by one each 50 ms, and an event each 100 ms with its number.
const counter = addVariable(objects, "Counter", "UInt32", { dataType: DataType.UInt32, value: 0 });
const pump = namespace.addObject({ organizedBy: objects, nodeId: "s=Pump", browseName: "Pump", eventSourceOf: objects.server, eventNotifier: 1 });
let count = 0;
let events = 0;
const counting = setInterval(() => counter.setValueFromSource({ dataType: DataType.UInt32, value: ++count }), 50);
const telling = setInterval(() => pump.raiseEvent("SystemEventType", {
  message: { dataType: DataType.LocalizedText, value: { text: `event ${++events}` } },
  severity: { dataType: DataType.UInt16, value: 321 },
  sourceName: { dataType: DataType.String, value: "Pump" },
}), 100);

await server.start();
emit({ event: "listening", url: server.getEndpointUrl(), policies: securityPolicies.map((uri) => uri.split("#")[1]) });

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  clearInterval(counting);
  clearInterval(telling);
  await server.shutdown(0);
  emit({ event: "stopped" });
  process.exit(0);
}
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
process.stdin.on("end", stop).on("close", stop).resume();
