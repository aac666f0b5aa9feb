package lakewarden.spark.indexes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.RoaringBitmapWriter;

/** Writes the body of a bitmap: the dictionary, the null rows, and the rows by key or by bit. */
final class BitmapBody {
  private BitmapBody() {}

  static byte[] of(
      int count,
      byte[] dictionary,
      RoaringBitmapWriter<RoaringBitmap> nulls,
      List<RoaringBitmapWriter<RoaringBitmap>> bitmaps,
      boolean bySlices) {
    byte[] nullRows = packed(nulls);
    List<byte[]> parts = new ArrayList<>(bitmaps.size());
    int size = 12 + dictionary.length + nullRows.length + 4 + 4 * bitmaps.size();
    for (RoaringBitmapWriter<RoaringBitmap> one : bitmaps) {
      parts.add(packed(one));
      size += parts.get(parts.size() - 1).length;
    }
    ByteBuffer body = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    body.putInt(count).putInt(dictionary.length).put(dictionary);
    body.putInt(nullRows.length).put(nullRows);
    if (bySlices) {
      body.putInt(parts.size());
      parts.forEach(part -> body.putInt(part.length).put(part));
      return body.array();
    }
    int offset = 0;
    body.putInt(0);
    for (byte[] part : parts) {
      offset += part.length;
      body.putInt(offset);
    }
    parts.forEach(body::put);
    return body.array();
  }

  /** The bytes of a bitmap, as short as runs make them. */
  private static byte[] packed(RoaringBitmapWriter<RoaringBitmap> writer) {
    RoaringBitmap bitmap = writer.get();
    bitmap.runOptimize();
    ByteBuffer written = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
    bitmap.serialize(written);
    return written.array();
  }
}
